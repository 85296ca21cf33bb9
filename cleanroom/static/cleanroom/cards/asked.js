// asked.js: what a card asked, as names and values, for one that takes no answer any more. Pure.
// @ts-check
import { words } from '../format.js'

/** @typedef {[string, string | string[]]} Fact */

/** @type {Record<string, (payload: any, item: any) => Fact[]>} */
const ASKED = {
  approval: ({ details = [] }) => details.map((/** @type {any} */ { label, value }) => [words(label), value]),
  questions: ({ questions = [] }, item) => listed('Asked', unanswered(questions.map(promptOf), item)),
  confirmation: ({ targetSummary = '' }, { prompt }) => (targetSummary === prompt ? [] : [['About', targetSummary]]),
  checkbox: ({ options = [] }) => listed('Options', options.map(labelOf)),
  suggest_tasks: ({ tasks = [] }) => listed('Suggested', tasks.map(titleOf)),
  item_verdicts: ({ items = [] }) => listed('Items', items.map(titleOf)),
}

/** @param {any} item a card in any state @returns {Fact[]} */
export function askedOf(item) {
  return ASKED[item.interactionKind]?.(item.payload ?? {}, item) ?? []
}

/** An answer repeats its question, and a single question may be the prompt itself.
 * @param {string[]} prompts @param {any} item */
function unanswered(prompts, { prompt, resolvedSummary = [] }) {
  const said = (/** @type {string} */ one) =>
    one === prompt || resolvedSummary.some((/** @type {string} */ line) => line.startsWith(one))
  return prompts.filter((one) => !said(one))
}

/** @param {string} name @param {string[]} values @returns {Fact[]} */
function listed(name, values) {
  return values.length ? [[name, values.length === 1 ? values[0] : values]] : []
}

const promptOf = (/** @type {any} */ { prompt }) => prompt
const labelOf = (/** @type {any} */ { label }) => label
const titleOf = (/** @type {any} */ { title }) => title
