// turn.js: one turn: its header, and its items in order.
// @ts-check
import { html, pure } from '../html.js'
import { turnFacts } from '../format.js'
import { todoFor } from '../problems.js'
import { ItemView } from './item.js'
import { Alert } from './icons.js'

const SEND_AGAIN = 'Send the message again, or start a New chat.'

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
      ${outside ? null : html`<${TurnHeader} turn=${turn} facts=${factsOf(entry)} />`}
      ${entry.itemIds.value.map((id) => html`<${ItemView} key=${id} item=${entry.items.get(id)} />`)}
      ${isUnanswered(entry) ? html`<p class="muted" data-testid="no-answer">No answer</p>` : null}
      ${turn.error ? html`<${TurnError} error=${turn.error} />` : null}
    </section>
  `
}

export const Turn = pure(TurnView)

/** A turn that no message began is the agent's going on after an answer. @param {import('../store.js').TurnEntry} entry */
function factsOf(entry) {
  const asked = entry.itemIds.value.some((id) => entry.items.get(id)?.peek().kind === 'user_message')
  return asked ? turnFacts(entry.facts.value) : ['after your answer', ...turnFacts(entry.facts.value)]
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

/** @param {{ turn: import('../types.js').Turn, facts: string[] }} props */
function TurnHeader({ turn, facts }) {
  return html`
    <header class="turn-header">
      <h2 id=${`${turn.id}-title`}>Turn ${turn.ordinal}</h2>
      ${facts.map((fact) => html`<span class="turn-fact">${fact}</span>`)}
    </header>
  `
}

/** @param {{ error: import('../types.js').Problem }} props */
function TurnError({ error }) {
  return html`
    <div class="bar" data-tone="bad" data-testid="turn-error">
      <span class="bar-mark"><${Alert} /></span>
      <div class="bar-text">
        <p>${error.message || 'The turn failed.'} <code>${error.code}</code></p>
        <p class="muted">${todoFor(error.code) || SEND_AGAIN}</p>
      </div>
    </div>
  `
}
