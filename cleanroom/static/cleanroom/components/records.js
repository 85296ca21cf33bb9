// records.js: what a call left behind in the mock company: comments, documents, deliverables, tasks, dispositions.
// @ts-check
import { html } from '../html.js'
import { fileSize, visible, words } from '../format.js'
import { Expandable } from './expandable.js'
import { Markdown } from './markdown_view.js'
import { Doc, Flag, Info, Link, Note } from './icons.js'

/**
 * @param {{
 *   kind: string, mark: any, label: string, by?: string, operation?: string, tone?: string, children?: any,
 * }} props
 */
function RecordCard({ kind, mark: Mark, label, by, operation, tone = 'plain', children }) {
  return html`
    <article class="record-card" data-kind=${kind} data-tone=${tone} data-operation=${operation} aria-label=${label}>
      <header>
        <span class="record-mark"><${Mark} /></span>
        <span class="record-label">${label}</span>
        ${by ? html`<span class="record-by">${by}</span>` : null}
      </header>
      ${children}
    </article>
  `
}

/** @param {{ item: any }} props */
export function Comment({ item }) {
  return html`
    <${RecordCard}
      kind="durable_comment"
      mark=${Note}
      label="Recorded to mock thread"
      by=${item.author}
      operation=${item.operationId}
      tone="kept"
    >
      <${Markdown} text=${item.body} />
    <//>
  `
}

/** @param {{ item: any }} props */
export function Document({ item }) {
  const change = item.revisionFrom
    ? `revision ${item.revisionFrom} → ${item.revisionTo}`
    : `revision ${item.revisionTo ?? 1}, new`
  return html`
    <${RecordCard} kind="document" mark=${Doc} label="Document" by=${item.author}>
      <p class="record-title" dir="auto">${item.title} <span class="muted">${change}</span></p>
      ${
        item.excerpt
          ? html`<${Expandable} id=${`${item.id}-text`} label=${item.title}><${Markdown} text=${item.excerpt} /><//>`
          : null
      }
      <footer class="record-foot"><code>${item.documentKey}</code></footer>
    <//>
  `
}

/** @param {{ item: any }} props */
export function Deliverable({ item }) {
  return html`
    <${RecordCard} kind="deliverable" mark=${Doc} label="Deliverable" by=${item.registeredBy}>
      <p class="record-title"><code>${visible(item.filename)}</code></p>
      <footer class="record-foot">${[item.deliverableKind, sizeOf(item)].filter(Boolean).join(', ')}</footer>
    <//>
  `
}

/** @param {any} item */
function sizeOf({ byteSize }) {
  return typeof byteSize === 'number' ? fileSize(byteSize) : ''
}

/** @param {{ item: any }} props */
export function Dependency({ item }) {
  const { createdTasks = [], blockerEdges = [] } = item
  const tasks = createdTasks.map(
    (/** @type {any} */ task) => html`<li><code>${task.identifier}</code> ${task.title}</li>`,
  )
  const edges = blockerEdges.map((/** @type {string} */ edge) => html`<li>${edge}</li>`)
  const empty = !tasks.length && !edges.length
  return html`
    <${RecordCard} kind="dependency" mark=${Link} label=${tasks.length ? 'Tasks created' : 'Dependencies'}>
      <ul class="plain-list" dir="auto">${tasks}${edges}</ul>
      ${empty ? html`<p class="muted">No task blocks this issue any more.</p>` : null}
    <//>
  `
}

/** @param {{ item: any }} props */
export function Disposition({ item }) {
  return html`
    <${RecordCard}
      kind="disposition"
      mark=${Flag}
      label=${`Issue is now ${words(item.status).toLowerCase()}`}
      operation=${item.operationId}
      tone="kept"
    >
      <${Markdown} text=${item.body || ''} />
    <//>
  `
}

/** @param {{ item: any }} props */
export function PlainRecord({ item }) {
  return html`
    <${RecordCard} kind=${item.kind} mark=${Info} label=${item.label || words(item.kind)}>
      ${item.body ? html`<p dir="auto" class="pre-line">${visible(item.body)}</p>` : null}
    <//>
  `
}
