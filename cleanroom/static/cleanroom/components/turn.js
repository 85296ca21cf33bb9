// turn.js: one turn: its header, and its items in order.
// @ts-check
import { html, pure } from '../html.js'
import { turnFacts } from '../format.js'
import { ItemView } from './item.js'
import { Alert } from './icons.js'

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
      ${outside ? null : html`<${TurnHeader} turn=${turn} />`}
      ${entry.itemIds.value.map((id) => html`<${ItemView} key=${id} item=${entry.items.get(id)} />`)}
      ${turn.error ? html`<${TurnError} error=${turn.error} />` : null}
    </section>
  `
}

export const Turn = pure(TurnView)

/** @param {{ turn: import('../types.js').Turn }} props */
function TurnHeader({ turn }) {
  return html`
    <header class="turn-header">
      <h2 id=${`${turn.id}-title`}>Turn ${turn.ordinal}</h2>
      ${turnFacts(turn).map((fact) => html`<span class="turn-fact">${fact}</span>`)}
    </header>
  `
}

/** @param {{ error: import('../types.js').Problem }} props */
function TurnError({ error }) {
  return html`
    <div class="bar" data-tone="bad" data-testid="turn-error">
      <span class="bar-mark"><${Alert} /></span>
      <div class="bar-text"><p>${error.message || 'The turn failed.'} <code>${error.code}</code></p></div>
    </div>
  `
}
