// card.js: a request that waits for a person, whatever its kind: what is asked, its state, and later how it ended.
// @ts-check
import { useRef } from 'preact/hooks'
import { html, useRoom } from '../html.js'
import { visible, words } from '../format.js'
import { Facts } from '../components/facts.js'
import { Markdown } from '../components/markdown_view.js'
import { Alert, Question, Shield } from '../components/icons.js'
import { Approval } from './approval.js'
import { askedOf, repeatsPrompt } from './asked.js'
import { Checkbox } from './checkbox.js'
import { Confirmation } from './confirmation.js'
import { Questions } from './questions.js'
import { SuggestTasks } from './suggest_tasks.js'
import { Verdicts } from './verdicts.js'

/** @type {Record<string, { label: string, fields: any }>} */
const KINDS = {
  approval: { label: 'Approval', fields: Approval },
  questions: { label: 'Question', fields: Questions },
  confirmation: { label: 'Confirmation', fields: Confirmation },
  checkbox: { label: 'Choice', fields: Checkbox },
  suggest_tasks: { label: 'Suggested tasks', fields: SuggestTasks },
  item_verdicts: { label: 'Verdicts', fields: Verdicts },
}

/** @param {{ item: any }} props */
export function Card({ item }) {
  const { answers } = useRoom()
  const frame = useRef(/** @type {HTMLElement | null} */ (null))
  const pending = item.state === 'pending'
  const submitting = pending && answers.submitting.value.has(item.interactionId)
  const { label, fields } = KINDS[item.interactionKind] ?? { label: 'Request', fields: null }
  const titleId = `${item.id}-title`
  const keepFocus = () => frame.current?.focus({ preventScroll: true }) // the pressed button is about to go away
  return html`
    <article
      ref=${frame}
      class="card"
      tabindex="-1"
      data-kind="interaction"
      data-card=${item.interactionKind}
      data-interaction=${item.interactionId}
      data-state=${submitting ? 'submitting' : item.state}
      aria-labelledby=${titleId}
    >
      <header>
        <span class="record-mark">${item.interactionKind === 'approval' ? html`<${Shield} />` : html`<${Question} />`}</span>
        <span class="record-label">${label}</span>
        <span class="state" data-state=${item.state}>${submitting ? 'Submitting…' : item.stateLabel}</span>
      </header>
      <h3 id=${titleId} class="card-title" dir="auto">${titleOf(item)}</h3>
      ${item.prompt && !repeatsPrompt(item) ? html`<${Markdown} text=${item.prompt} />` : null}
      ${pending && fields ? html`<${Form} fields=${fields} item=${item} onAnswer=${keepFocus} />` : html`<${Resolved} item=${item} />`}
    </article>
  `
}

/** The title of an approval is its type, a name such as `budget_increase`. @param {any} item */
function titleOf({ interactionKind, title }) {
  return interactionKind === 'approval' ? words(title) : visible(title)
}

/** @param {{ fields: any, item: any, onAnswer: () => void }} props */
function Form({ fields: Fields, item, onAnswer }) {
  const room = useRoom()
  const { interactionId } = item
  const refused = room.answers.problems.value[interactionId]
  const submitting = room.answers.submitting.value.has(interactionId)
  const shut = submitting || !['ready', 'waiting', 'unavailable'].includes(room.composerState.value)
  const answer = (/** @type {string} */ outcome, /** @type {unknown} */ result) => {
    onAnswer()
    room.answer(interactionId, outcome, result)
  }
  return html`
    <form class="card-form" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <fieldset disabled=${shut}>
        <legend class="hidden-visually">Your answer</legend>
        <${Fields} item=${item} payload=${item.payload} answer=${answer} />
      </fieldset>
      ${refused ? html`<${Refused} shown=${refused} />` : null}
    </form>
  `
}

/** @param {{ shown: import('../problems.js').Shown }} props */
function Refused({ shown }) {
  return html`
    <p class="field-error" data-testid="card-error"><${Alert} /><span>${shown.text} <code>${shown.code}</code></span></p>
  `
}

/** What was asked stays readable beside what became of it. @param {{ item: any }} props */
function Resolved({ item }) {
  /** @type {string[]} */ const lines = item.resolvedSummary ?? []
  return html`
    <div class="resolved">
      <${Facts} facts=${askedOf(item)} />
      ${lines.map((line) => html`<p dir="auto">${visible(line)}</p>`)}
      ${item.reason ? html`<p dir="auto">${visible(item.reason)}</p>` : null}
    </div>
  `
}
