// questions.js: one or more questions with free or given answers.
// @ts-check
import { useState } from 'preact/hooks'
import { html } from '../html.js'
import { visible } from '../format.js'
import { Choice, LongField, Press } from './fields.js'

/**
 * @typedef {object} Question
 * @property {string} id
 * @property {string} prompt
 * @property {string} control  `text`, `radio` or `select`
 * @property {{ id: string, label: string }[]} options
 * @property {boolean} required
 */
/** @typedef {{ id: string, question: Question, value: string, onText: (text: string) => void }} FieldProps */

/** @param {import('./fields.js').CardProps} props */
export function Questions({ item, payload, answer }) {
  /** @type {Question[]} */ const questions = payload.questions
  const [answers, setAnswers] = useState(/** @type {Record<string, string>} */ ({}))
  const given = questions.filter(({ id }) => answers[id]?.trim())
  const missing = questions.some((one) => one.required && !given.includes(one))
  const submit = () =>
    answer('answered', { answers, summary: given.map((one) => `${one.prompt} ${answers[one.id].trim()}`) })
  return html`
    ${questions.map(
      (question) => html`
        <${FIELDS[question.control] ?? TextField}
          key=${question.id}
          id=${`${item.id}-${question.id}`}
          question=${question}
          value=${answers[question.id] ?? ''}
          onText=${(/** @type {string} */ text) => setAnswers({ ...answers, [question.id]: text })}
        />
      `,
    )}
    <div class="card-actions">
      <${Press} label=${payload.submitLabel} disabled=${missing || !given.length} onPress=${submit} />
      <${Press} label="Decline to answer" look="quiet" onPress=${() => answer('rejected', {})} />
    </div>
  `
}

/** @type {Record<string, (props: FieldProps) => any>} */
const FIELDS = { text: TextField, radio: RadioField, select: SelectField }

/** @param {FieldProps} props */
function TextField({ id, question, value, onText }) {
  return html`<${LongField} id=${id} label=${question.prompt} hint=${hintOf(question)} value=${value} onText=${onText} />`
}

/** @param {FieldProps} props */
function RadioField({ id, question, value, onText }) {
  return html`
    <fieldset class="choices">
      <legend dir="auto">${visible(question.prompt)} <span class="muted">${hintOf(question)}</span></legend>
      ${question.options.map(
        ({ label }) =>
          html`<${Choice} label=${label} group=${id} checked=${value === label} onPick=${() => onText(label)} />`,
      )}
    </fieldset>
  `
}

/** @param {FieldProps} props */
function SelectField({ id, question, value, onText }) {
  return html`
    <label for=${id} dir="auto">${visible(question.prompt)} <span class="muted">${hintOf(question)}</span></label>
    <select id=${id} value=${value} onChange=${(/** @type {any} */ event) => onText(event.currentTarget.value)}>
      <option value="">Choose…</option>
      ${question.options.map(({ label }) => html`<option value=${label}>${visible(label)}</option>`)}
    </select>
  `
}

/** @param {Question} question */
function hintOf(question) {
  return question.required ? '' : '(optional)'
}
