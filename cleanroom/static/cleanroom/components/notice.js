// notice.js: what the room itself has to say.
// @ts-check
import { html } from '../html.js'
import { Info } from './icons.js'

/** @param {{ item: any }} props */
export function Notice({ item }) {
  return html`
    <p class="notice" data-kind="system_notice" data-code=${item.code} dir="auto"><${Info} /><span>${item.text}</span></p>
  `
}
