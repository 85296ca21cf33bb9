// asked.js: what a card asked, as names and values, for one that takes no answer any more. Pure.
// @ts-check
import { words } from '../format.js'

/** @typedef {[string, string | string[]]} Fact */

/** @type {Record<string, (payload: any, item: any) => Fact[]>} */
const ASKED = {
  approval: ({ details = [] }, item) => approvedFacts(details, item),
  questions: ({ questions = [] }, item) => listed('Asked', unanswered(asked(questions, item), item)),
  confirmation: ({ targetSummary = '' }, { prompt }) => (targetSummary === prompt ? [] : [['About', targetSummary]]),
  checkbox: ({ options = [] }) => listed('Options', options.map(labelOf)),
  suggest_tasks: ({ tasks = [] }) => listed('Suggested', tasks.map(titleOf)),
  item_verdicts: ({ items = [] }) => listed('Items', items.map(titleOf)),
}

/** @param {any} item a card in any state @returns {Fact[]} */
export function askedOf(item) {
  return ASKED[item.interactionKind]?.(item.payload ?? {}, item) ?? []
}

/** What is to be approved, without a row that only repeats the title above it.
 * @param {{ label: string, value: string }[]} details @param {any} item @returns {Fact[]} */
export function approvedFacts(details, { title = '' }) {
  const says = (/** @type {string} */ text) => text.trim().toLowerCase()
  return details.filter(({ value }) => says(value) !== says(title)).map(({ label, value }) => [words(label), value])
}

/** Whether a field of the card, or later its answer, begins with the very words of the prompt. @param {any} item */
export function repeatsPrompt({ interactionKind, state, prompt, payload, resolvedSummary = [] }) {
  if (interactionKind !== 'questions') return false
  if (state !== 'pending') return resolvedSummary.some((/** @type {string} */ line) => line.startsWith(prompt))
  return (payload?.questions ?? []).some((/** @type {any} */ one) => one.prompt === prompt)
}

/** Of an answered card the optional questions that were passed over are of no more interest.
 * @param {any[]} questions @param {any} item @returns {string[]} */
function asked(questions, { state }) {
  return questions.filter(({ required }) => state !== 'answered' || required !== false).map(promptOf)
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
