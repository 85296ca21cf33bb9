// icons.js: small line drawings, all decoration: the words beside them say the same.
// @ts-check
import { html } from '../html.js'

/** @param {any} shape */
const icon = (shape) => () =>
  html`<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">${shape}</svg>`

export const Check = icon(html`<path d="M3.5 8.5l3 3 6-7" />`)
export const Cross = icon(html`<path d="M4.5 4.5l7 7m0-7l-7 7" />`)
export const Chevron = icon(html`<path d="M6 4l4 4-4 4" />`)
export const Send = icon(html`<path d="M8 13V3.5M4 7l4-4 4 4" />`)
export const Stop = icon(html`<rect x="4.5" y="4.5" width="7" height="7" rx="1.2" class="icon-fill" />`)
export const Down = icon(html`<path d="M8 3v9.5M4 9l4 4 4-4" />`)
export const Plus = icon(html`<path d="M8 3.5v9M3.5 8h9" />`)
export const Reset = icon(html`<path d="M3.5 8a4.5 4.5 0 1 0 1.6-3.4M3.4 2.8v2.4h2.4" />`)
export const Doc = icon(html`<path d="M4 2.5h5l3 3v8H4zM9 2.5v3h3M6 8.5h4M6 11h4" />`)
export const Note = icon(html`<path d="M2.8 3.5h10.4v7H8l-3 2.6v-2.6H2.8z" />`)
export const Shield = icon(html`<path d="M8 2.2l5 1.8v3.6c0 3-2.1 5.2-5 6.2-2.9-1-5-3.2-5-6.2V4z" />`)
export const Blocked = icon(html`<circle cx="8" cy="8" r="5.2" /><path d="M4.4 4.4l7.2 7.2" />`)
export const Question = icon(
  html`<path d="M5.8 6.2c0-1.3 1-2.2 2.3-2.2s2.2.8 2.2 2c0 1.6-2.2 1.8-2.2 3.4M8.1 12v.1" />`,
)
export const Spark = icon(html`<path d="M8 2.5l1.4 4.1 4.1 1.4-4.1 1.4L8 13.5 6.6 9.4 2.5 8l4.1-1.4z" />`)
export const Terminal = icon(html`<path d="M3 4.5l3.2 3.2L3 11M8 11.5h5" />`)
export const Link = icon(
  html`<path d="M6.5 9.5l3-3M5.2 7.2L3.6 8.8a2.5 2.5 0 0 0 3.6 3.6l1.6-1.6M10.8 8.8l1.6-1.6a2.5 2.5 0 0 0-3.6-3.6L7.2 5.2" />`,
)
export const Flag = icon(html`<path d="M4 13.5v-11M4 3h7.5l-1.6 2.7L11.5 8.5H4" />`)
export const Info = icon(html`<circle cx="8" cy="8" r="5.5" /><path d="M8 7.4v3.4M8 5.2v.1" />`)
export const Alert = icon(html`<path d="M8 2.8l5.8 10.2H2.2zM8 6.6v3M8 11.3v.1" />`)
