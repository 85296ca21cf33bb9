// composer_view.js: where a person writes. Enter sends, Shift+Enter breaks the line, and an Enter that belongs to an
// input method sends nothing.
// @ts-check
import { useEffect, useRef } from 'preact/hooks'
import { html, useRoom } from '../html.js'
import { counter } from '../bytes.js'
import { messageWithdraws } from '../composer.js'
import { Send, Stop } from './icons.js'
import { PartingButton } from './parting_button.js'

/** @param {{ onSent: () => void }} props */
export function Composer({ onSent }) {
  const room = useRoom()
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null))
  const session = room.store.head.value
  const roomId = session?.sessionId
  useEffect(() => field.current?.focus({ preventScroll: true }), [roomId])
  if (!session) return null
  const state = room.composerState.value
  const count = counter(room.draft.value, session.limits.maxMessageBytes)
  const send = () => {
    if (!room.maySend.peek()) return
    room.send()
    onSent()
  }
  const placeholder = placeholderOf(state, session.view)
  const onSubmit = (/** @type {Event} */ event) => stopEvent(event, send)
  return html`
    <form class="composer" data-composer-state=${state} onSubmit=${onSubmit}>
      <label class="hidden-visually" for="message">Message to Codex</label>
      <div class="grow" data-text=${`${room.draft.value || placeholder}\n`}>
        <textarea
          ref=${field}
          id="message"
          name="message"
          rows="1"
          dir="auto"
          placeholder=${placeholder}
          aria-describedby="composer-helper"
          aria-invalid=${count.over ? 'true' : null}
          value=${room.draft.value}
          onInput=${(/** @type {any} */ event) => room.write(event.currentTarget.value)}
          onKeyDown=${(/** @type {KeyboardEvent} */ event) => isSend(event) && stopEvent(event, send)}
        ></textarea>
      </div>
      <div class="composer-row">
        <p class="helper" id="composer-helper">${helper(room, session.view.composer)}</p>
        <${TurnsLeft} />
        <${ToTheCard} id=${state === 'waiting' ? session.view.composer.pendingInteractionId : null} />
        ${count.shown ? html`<${ByteCount} count=${count} />` : null}
        <${StopButton} state=${state} />
        <button type="submit" class="button primary" disabled=${!room.maySend.value} data-testid="send">
          <${Send} />Send
        </button>
      </div>
    </form>
  `
}

/** @param {{ count: ReturnType<typeof counter> }} props */
function ByteCount({ count }) {
  return html`<span class="count" data-over=${count.over} data-testid="byte-count">${count.text}</span>`
}

/** @param {{ state: string }} props */
function StopButton({ state }) {
  const room = useRoom()
  if (state !== 'streaming' || room.pending.value?.cursor === null) return null
  return html`
    <${PartingButton} class="button stop" data-testid="stop" waits=${room.stopping.value} onClick=${room.stop}>
      <${Stop} />${room.stopping.value ? 'Stopping' : 'Stop'}
    <//>
  `
}

/** Who writes shall know in time that a chat has an end. */
function TurnsLeft() {
  const { turnsLeft, newChat } = useRoom()
  const left = turnsLeft.value
  if (left > WARNED_TURNS) return null
  if (left > 0) return html`<p class="turns-left" data-testid="turns-left">${left === 1 ? LAST_TURN : `${left} turns left`}</p>`
  return html`
    <p class="turns-left" data-testid="turns-left">No turns left in this chat.</p>
    <button type="button" class="button small" data-testid="limit-new-chat" onClick=${newChat}>New chat</button>
  `
}

/** The card that waits may have gone far up. @param {{ id: string | null }} props */
function ToTheCard({ id }) {
  if (!id) return null
  const go = () => {
    const card = document.querySelector(`[data-interaction="${CSS.escape(id)}"]`)
    card?.scrollIntoView({ block: 'center' })
    if (card instanceof HTMLElement) card.focus({ preventScroll: true })
  }
  return html`<button type="button" class="button quiet small" data-testid="to-the-card" onClick=${go}>Go to the card</button>`
}

const WARNED_TURNS = 3
const LAST_TURN = 'Last turn of this chat'

/** @type {Record<string, string>} */
const BACK = {
  failed: 'Your message is back. It was not sent again.',
  refused: 'Your message is back. It was not sent.',
  unheard: 'Your message is back. The server did not say whether it arrived.',
}

/** @type {Record<string, string>} */
const PLACEHOLDERS = {
  ready: 'Message Codex',
  streaming: 'Write the next message while Codex works',
  waiting: 'Decide on the card, or write a message',
}
const WITHDRAWS = 'Writing a message withdraws the question'

/** @param {string} state @param {import('../types.js').View} view */
function placeholderOf(state, view) {
  if (state === 'waiting' && messageWithdraws(view)) return WITHDRAWS
  return PLACEHOLDERS[state] ?? PLACEHOLDERS.ready
}

/** @param {import('../room.js').Room} room @param {import('../types.js').Composer} composer */
function helper(room, composer) {
  if (room.line.value === 'lost') return 'Not connected. What you write is kept.'
  if (room.returned.value && !room.over.value) return BACK[room.returned.value]
  return composer.helper
}

/** An Enter that ends a composition reports `isComposing`, or the code 229 in older browsers. */
export function isSend(/** @type {KeyboardEvent} */ event) {
  return event.key === 'Enter' && !event.shiftKey && !event.isComposing && event.keyCode !== 229
}

/** @param {Event} event @param {() => void} act */
function stopEvent(event, act) {
  event.preventDefault()
  act()
}
