// thread.js: the turns of a room, oldest first, and the message that is on its way.
// @ts-check
import { html, useRoom } from '../html.js'
import { Blank } from './blank.js'
import { Turn } from './turn.js'
import { UserMessage } from './message.js'
import { Finished } from './finished.js'

export function Thread() {
  const { store, pending } = useRoom()
  const ids = store.turnIds.value
  const onItsWay = pending.value
  const arrived = onItsWay && ids.some((id) => store.turn(id).facts.value.ordinal > onItsWay.ordinal)
  const spoken = ids.some((id) => id !== 'turn-0')
  return html`
    <div class="thread" role="log" aria-live="off" aria-label="Conversation">
      ${ids.map((id) => html`<${Turn} key=${id} entry=${store.turn(id)} />`)}
      ${spoken || onItsWay ? null : html`<${Blank} />`}
      ${
        onItsWay && !arrived
          ? html`<div class="turn"><${UserMessage} item=${{ body: onItsWay.text }} sending=${true} /></div>`
          : null
      }
      <${Finished} />
    </div>
  `
}
