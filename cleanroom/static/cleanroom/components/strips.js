// strips.js: what the agent did, one line each, with the facts folded away.
// @ts-check
import { html } from '../html.js'
import { visible, words } from '../format.js'
import { Facts, rowsOf } from './facts.js'
import { Check, Chevron, Cross, Spark, Stop, Terminal } from './icons.js'

/** @type {Record<string, string>} */
const STATES = { running: 'Running', ok: 'Done', complete: 'Done', failed: 'Did not finish', denied: 'Denied' }

/** @param {{ item: any }} props */
export function ToolStrip({ item }) {
  const command = item.result?.command ?? {}
  return html`
    <${Strip}
      kind="tool_activity"
      status=${item.status}
      title=${item.title || words(item.operationId)}
      name=${item.operationId}
      summary=${item.summary}
    >
      <${Facts}
        facts=${[
          ['Operation', item.operationId],
          ['Fields', item.fields],
          ['Command', command.commandKind],
          ['Disposition', command.disposition],
          ['State revision', command.stateRevision ?? item.result?.stateRevision],
          ['Records', command.entityRefs],
        ]}
      />
    <//>
  `
}

/** @param {{ item: any }} props */
export function Progress({ item }) {
  return html`
    <${Strip}
      kind="progress_activity"
      status=${item.status}
      mark=${markOf(item)}
      note=${exitOf(item)}
      whole=${item.activity === 'command'}
      title=${item.label || words(item.activity)}
      summary=${item.summary === item.label ? '' : item.summary}
    >
      <${Facts} facts=${rowsOf(item.details)} />
      ${item.withheld ? html`<p class="muted">${item.withheld}</p>` : null}
    <//>
  `
}

/** @param {any} item */
function markOf({ activity, label }) {
  if (activity === 'command') return Terminal
  return label === 'Stop' ? Stop : Spark
}

/** A command that ran to its end and returned something else than 0 did finish; it says how. @param {any} item */
export function exitOf({ activity, details = [] }) {
  const code = details.find((/** @type {any} */ { label }) => label === 'Exit code')?.value
  return activity === 'command' && code !== undefined && code !== '0' ? `Exited with code ${code}` : ''
}

/**
 * @param {{
 *   kind: string, status: string, title: string, name?: string, summary?: string, mark?: any, note?: string,
 *   whole?: boolean, children?: any,
 * }} props  `whole`: what is folded away repeats the summary, and more
 */
function Strip({ kind, status, title, name, summary, mark: Mark, note = '', whole = false, children }) {
  const state = note || (STATES[status] ?? status)
  return html`
    <details class="strip" data-kind=${kind} data-status=${status} data-operation=${name} data-whole=${whole}>
      <summary>
        <${StripMark} status=${status} mark=${Mark} />
        <span class="strip-title">${title}</span>
        ${note ? null : html`<span class="hidden-visually">, ${state}</span>`}
        ${summary ? html`<span class="strip-summary" dir="auto">${visible(summary)}</span>` : null}
        ${note ? html`<span class="strip-note">${note}</span>` : null}
        <span class="strip-chevron"><${Chevron} /></span>
      </summary>
      <div class="strip-facts">${children}<${Facts} facts=${[['State', state]]} /></div>
    </details>
  `
}

/** @param {{ status: string, mark?: any }} props */
function StripMark({ status, mark: Mark }) {
  if (status === 'running') return html`<span class="spinner small" aria-hidden="true"></span>`
  const Shape = status === 'failed' || status === 'denied' ? Cross : (Mark ?? Check)
  return html`<span class="strip-mark"><${Shape} /></span>`
}
