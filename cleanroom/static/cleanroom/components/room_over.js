// room_over.js: stands where the composer stood when the room is closed: why, and where to go from here.
// @ts-check
import { html, useRoom } from '../html.js'
import { whyOver } from '../problems.js'

/** @param {{ code: string }} props */
export function RoomOver({ code }) {
  const room = useRoom()
  const other = room.otherRoom.value
  return html`
    <section class="over" data-testid="room-over" data-code=${code} data-composer-state="disabled" aria-label="Room closed">
      <div class="bar-text">
        <p class="strong">${whyOver(code)}</p>
        <p class="muted">What was said stays readable here until you leave this page.</p>
      </div>
      <div class="over-actions">
        ${other ? html`<${OpenOther} open=${() => room.open(other)} />` : null}
        <button type="button" class="button primary" data-testid="over-new-chat" onClick=${room.newChat}>New chat</button>
      </div>
    </section>
  `
}

/** @param {{ open: () => void }} props */
function OpenOther({ open }) {
  return html`<button type="button" class="button" data-testid="open-other" onClick=${open}>Open the new room</button>`
}
