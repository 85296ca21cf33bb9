// denial.js: a call that was refused: which, by what rule, and why. The company did not change.
// @ts-check
import { html } from '../html.js'
import { visible, words } from '../format.js'
import { Blocked } from './icons.js'

/** @param {{ item: any }} props */
export function Denial({ item }) {
  const title = item.title || words(item.operationId)
  const told = visible(item.reason) // written for a model, which knows the operation by the name it calls
  const reason = item.operationId ? told.replaceAll(item.operationId, () => `“${title}”`) : told
  return html`
    <article
      class="record-card"
      data-kind="denial"
      data-tone="bad"
      data-operation=${item.operationId}
      aria-label="Denied call"
    >
      <header>
        <span class="record-mark"><${Blocked} /></span>
        <span class="record-label">Denied</span>
        <span>${title}</span>
      </header>
      <p dir="auto">${reason}</p>
      <footer class="record-foot"><code>${item.operationId}</code><code>${item.code}</code><span>The mock company did not change.</span></footer>
    </article>
  `
}
