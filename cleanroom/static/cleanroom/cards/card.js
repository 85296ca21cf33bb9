// card.js: a request that waits for a person, whatever its kind: the question, its state, and once it is over how it ended.
// @ts-check
import { useEffect, useRef } from 'preact/hooks'
import { html, useRoom } from '../html.js'
import { visible, words } from '../format.js'
import { Markdown } from '../components/markdown_view.js'
import { Alert, Question, Shield } from '../components/icons.js'
import { Approval } from './approval.js'
import { Checkbox } from './checkbox.js'
import { Confirmation } from './confirmation.js'
import { Questions } from './questions.js'
import { SuggestTasks } from './suggest_tasks.js'
import { Verdicts } from './verdicts.js'

/** @type {Record<string, { label: string, form: any }>} */
const KINDS = {
  approval: { label: 'Approval', form: Approval },
  questions: { label: 'Question', form: Questions },
  confirmation: { label: 'Confirmation', form: Confirmation },
  checkbox: { label: 'Choice', form: Checkbox },
  suggest_tasks: { label: 'Suggested tasks', form: SuggestTasks },
  item_verdicts: { label: 'Verdicts', form: Verdicts },
}

/** @param {{ item: any }} props */
export function Card({ item }) {
  const room = useRoom()
  const kind = KINDS[item.interactionKind] ?? { label: 'Request', form: null }
  const waiting = room.submitting.value.has(item.interactionId)
  const pending = item.state === 'pending'
  const titleId = `${item.id}-title`
  return html`
    <article class="card" data-kind="interaction" data-card=${item.interactionKind} data-state=${waiting && pending ? 'submitting' : item.state} data-interaction=${item.interactionId} aria-labelledby=${titleId}>
      <header>
        <span class="record-mark">${item.interactionKind === 'approval' ? html`<${Shield} />` : html`<${Question} />`}</span>
        <span class="record-label">${kind.label}</span>
        <span class="state" data-state=${item.state}>${waiting && pending ? 'Submitting…' : item.stateLabel}</span>
      </header>
      <h3 id=${titleId} class="card-title" dir="auto">${item.interactionKind === 'approval' ? words(item.title) : visible(item.title)}</h3>
      ${item.prompt ? html`<${Markdown} text=${item.prompt} />` : null}
      ${pending && kind.form ? html`<${Form} view=${kind.form} item=${item} />` : html`<${Resolved} item=${item} />`}
    </article>
  `
}

/** @param {{ view: any, item: any }} props */
function Form({ view: Fields, item }) {
  const room = useRoom()
  const { interactionId } = item
  const refused = room.cardProblems.value[interactionId]
  const shut = Boolean(room.over.value) || room.composerState.value === 'streaming' || room.submitting.value.has(interactionId)
  const answer = (/** @type {string} */ outcome, /** @type {unknown} */ result) => room.answer(interactionId, outcome, result)
  return html`
    <form class="card-form" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <fieldset disabled=${shut}>
        <legend class="hidden-visually">Your answer</legend>
        <${Fields} item=${item} payload=${item.payload ?? {}} answer=${answer} />
      </fieldset>
      ${refused
        ? html`<p class="field-error" data-testid="card-error"><${Alert} /><span>${refused.text} <code>${refused.code}</code></span></p>`
        : null}
    </form>
  `
}

/** How it ended; takes the focus over from the buttons that are gone. @param {{ item: any }} props */
function Resolved({ item }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null))
  useEffect(() => {
    if (document.activeElement === document.body && box.current?.dataset.fresh) box.current.focus()
  }, [])
  const lines = item.resolvedSummary ?? []
  if (!lines.length && !item.reason) return null
  return html`
    <div class="resolved" ref=${box} tabindex="-1" data-fresh="true">
      ${lines.length ? html`<ul class="plain-list">${lines.map((/** @type {string} */ line) => html`<li dir="auto">${visible(line)}</li>`)}</ul>` : null}
      ${item.reason ? html`<p dir="auto">${visible(item.reason)}</p>` : null}
    </div>
  `
}
