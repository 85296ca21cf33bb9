// worded.js: a sentence of ours, in which `commands` and names stand between backticks.
// @ts-check
import { html } from '../html.js'

/** @param {{ text: string }} props */
export function Worded({ text }) {
  const parts = text.split('`')
  return html`${parts.map((part, place) => (place % 2 ? html`<code>${part}</code>` : part))}`
}
