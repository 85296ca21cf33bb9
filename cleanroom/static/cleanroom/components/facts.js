// facts.js: names and values, for whoever unfolds a strip or reads a card.
// @ts-check
import { html } from '../html.js'
import { visible, words } from '../format.js'

/** @param {{ facts: [string, string | number | string[] | null | undefined][] }} props */
export function Facts({ facts }) {
  const known = facts.filter(
    ([, value]) => value !== null && value !== undefined && value !== '' && !isEmptyList(value),
  )
  if (!known.length) return null
  const fact = (/** @type {[string, any]} */ [name, value]) => html`
    <div><dt>${name}</dt><dd dir="auto">${valueView(value)}</dd></div>
  `
  return html`<dl class="facts">${known.map(fact)}</dl>`
}

/** @param {{ label: string, value: string }[] | undefined} rows @returns {[string, string][]} */
export function rowsOf(rows) {
  return (rows ?? []).map(({ label, value }) => [words(label), value])
}

/** @param {any} value */
function valueView(value) {
  if (!Array.isArray(value)) return visible(value)
  return html`<ul class="values">${value.map((one) => html`<li><code>${visible(one)}</code></li>`)}</ul>`
}

/** @param {unknown} value */
function isEmptyList(value) {
  return Array.isArray(value) && value.length === 0
}
