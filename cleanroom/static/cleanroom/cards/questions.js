// questions.js: one or more questions with free or given answers.
// @ts-check
import { useState } from 'preact/hooks'
import { html } from '../html.js'
import { visible } from '../format.js'

/**
 * @typedef {object} Question
 * @property {string} id
 * @property {string} prompt
 * @property {string} control  `text`, `radio` or `select`
 * @property {{ id: string, label: string }[]} options
 * @property {boolean} required
 */

/** @param {{ item: any, payload: any, answer: (outcome: string, result: unknown) => void }} props */
export function Questions({ item, payload, answer }) {
  const [answers, setAnswers] = useState(/** @type {Record<string, string>} */ ({}))
  /** @type {Question[]} */ const questions = payload.questions
  const missing = questions.some(({ id, required }) => required && !answers[id]?.trim())
  const set = (/** @type {string} */ id) => (/** @type {any} */ event) => setAnswers({ ...answers, [id]: event.currentTarget.value })
  return html`
    ${questions.map((question) => html`<${QuestionField} key=${question.id} id=${`${item.id}-${question.id}`} question=${question} value=${answers[question.id] ?? ''} onInput=${set(question.id)} />`)}
    <div class="card-actions">
      <button type="button" class="button primary" disabled=${missing} onClick=${() => answer('answered', { answers, summary: questions.filter(({ id }) => answers[id]?.trim()).map((one) => spoken(one, answers[one.id])) })}>${payload.submitLabel}</button>
      <button type="button" class="button quiet" onClick=${() => answer('rejected', { reason: 'The board declined to answer.' })}>Decline to answer</button>
    </div>
  `
}

/** @param {{ id: string, question: Question, value: string, onInput: (event: any) => void }} props */
function QuestionField({ id, question, value, onInput }) {
  const { control, options } = question
  const optional = question.required ? null : html` <span class="muted">(optional)</span>`
  if (control === 'radio') {
    return html`
      <fieldset class="choices">
        <legend dir="auto">${visible(question.prompt)}${optional}</legend>
        ${options.map((option) => html`<label class="choice"><input type="radio" name=${id} value=${option.label} checked=${value === option.label} onChange=${onInput} /><span dir="auto">${visible(option.label)}</span></label>`)}
      </fieldset>
    `
  }
  const label = html`<label for=${id} dir="auto">${visible(question.prompt)}${optional}</label>`
  if (control === 'text') return html`${label}<textarea id=${id} rows="2" dir="auto" value=${value} onInput=${onInput}></textarea>`
  return html`
    ${label}
    <select id=${id} value=${value} onChange=${onInput}>
      <option value="">Choose…</option>
      ${options.map((option) => html`<option value=${option.label}>${visible(option.label)}</option>`)}
    </select>
  `
}

/** @param {Question} question @param {string} given */
function spoken(question, given) {
  return `${question.prompt} — ${given.trim()}`
}
