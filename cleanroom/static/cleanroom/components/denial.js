// denial.js: a call that was refused: which, by what rule, and why. The company did not change.
// @ts-check
import { html } from '../html.js'
import { visible, words } from '../format.js'
import { Blocked } from './icons.js'

/** @param {{ item: any }} props */
export function Denial({ item }) {
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
        <span>${item.title || words(item.operationId)}</span>
      </header>
      <p dir="auto">${visible(item.reason)}</p>
      <footer class="record-foot"><code>${item.operationId}</code><code>${item.code}</code><span>The mock company did not change.</span></footer>
    </article>
  `
}
