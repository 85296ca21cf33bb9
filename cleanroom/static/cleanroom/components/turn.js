// turn.js: one turn: its header, and its items in order.
// @ts-check
import { html, pure, useRoom } from '../html.js'
import { turnFacts } from '../format.js'
import { todoFor } from '../problems.js'
import { isAsked } from '../store.js'
import { ItemView } from './item.js'
import { Alert } from './icons.js'
import { Worded } from './worded.js'

const SEND_AGAIN = 'Send the message again, or start a New chat.'
const NEW_CHAT = 'Start a New chat to go on.'
const ANSWER_KEPT = 'Your answer is kept. If Codex has not got it yet, it is handed over with your next message.'

/** @param {{ entry: import('../store.js').TurnEntry }} props */
function TurnView({ entry }) {
  const turn = entry.facts.value
  const outside = turn.ordinal === 0
  return html`
    <section
      class="turn"
      data-turn=${turn.id}
      data-turn-state=${turn.state}
      aria-labelledby=${outside ? null : `${turn.id}-title`}
    >
      ${outside ? null : html`<${TurnHeader} turn=${turn} title=${titleOf(entry)} />`}
      ${entry.itemIds.value.map((id) => html`<${ItemView} key=${id} item=${entry.items.get(id)} />`)}
      ${isUnanswered(entry) ? html`<p class="muted" data-testid="no-answer">No answer</p>` : null}
      ${turn.error ? html`<${TurnError} error=${turn.error} isAsked=${isAsked(entry)} />` : null}
    </section>
  `
}

export const Turn = pure(TurnView)

/** The number is the stored one, as in the log, the evidence and the ids. A turn that no message began goes on after an answer.
 * @param {import('../store.js').TurnEntry} entry */
function titleOf(entry) {
  const { ordinal } = entry.facts.value
  return isAsked(entry) ? `Turn ${ordinal}` : `Turn ${ordinal} · after your answer`
}

/** A turn that ended well and left nothing to see. @param {import('../store.js').TurnEntry} entry */
function isUnanswered({ facts, itemIds, items }) {
  const { state, ordinal } = facts.value
  const silent = (/** @type {any} */ item) => !item || item.kind === 'user_message' || isEmptyProse(item)
  return state === 'completed' && ordinal > 0 && itemIds.value.every((id) => silent(items.get(id)?.peek()))
}

/** @param {any} item */
function isEmptyProse({ kind, body, streaming }) {
  return kind === 'agent_message' && !body && !streaming
}

/** @param {{ turn: import('../types.js').Turn, title: string }} props */
function TurnHeader({ turn, title }) {
  return html`
    <header class="turn-header">
      <h2 id=${`${turn.id}-title`}>${title}</h2>
      ${turnFacts(turn).map((fact) => html`<span class="turn-fact">${fact}</span>`)}
    </header>
  `
}

/** @param {{ error: import('../types.js').Problem, isAsked: boolean }} props */
function TurnError({ error, isAsked }) {
  const { over } = useRoom()
  const todo = over.value ? NEW_CHAT : todoFor(error.code) || (isAsked ? SEND_AGAIN : ANSWER_KEPT)
  return html`
    <div class="bar" data-tone="bad" data-testid="turn-error">
      <span class="bar-mark"><${Alert} /></span>
      <div class="bar-text">
        <p>${error.message || 'The turn failed.'} <code>${error.code}</code></p>
        <p class="muted"><${Worded} text=${todo} /></p>
      </div>
    </div>
  `
}
