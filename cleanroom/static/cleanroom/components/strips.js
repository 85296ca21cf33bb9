// strips.js: what the agent did, one line each, with the facts folded away.
// @ts-check
import { html } from '../html.js'
import { visible, words } from '../format.js'
import { Facts, rowsOf } from './facts.js'
import { Check, Chevron, Cross, Spark, Terminal } from './icons.js'

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
      mark=${item.activity === 'command' ? Terminal : Spark}
      title=${item.label || words(item.activity)}
      summary=${item.summary === item.label ? '' : item.summary}
    >
      <${Facts} facts=${rowsOf(item.details)} />
      ${item.withheld ? html`<p class="muted">${item.withheld}</p>` : null}
    <//>
  `
}

/**
 * @param {{
 *   kind: string, status: string, title: string, name?: string, summary?: string, mark?: any, children?: any,
 * }} props
 */
function Strip({ kind, status, title, name, summary, mark: Mark, children }) {
  return html`
    <details class="strip" data-kind=${kind} data-status=${status} data-operation=${name}>
      <summary>
        <${StripMark} status=${status} mark=${Mark} />
        <span class="strip-title">${title}</span>
        <span class="hidden-visually">, ${STATES[status] ?? status}</span>
        ${summary ? html`<span class="strip-summary" dir="auto">${visible(summary)}</span>` : null}
        <span class="strip-chevron"><${Chevron} /></span>
      </summary>
      <div class="strip-facts">${children}<${Facts} facts=${[['State', STATES[status] ?? status]]} /></div>
    </details>
  `
}

/** @param {{ status: string, mark?: any }} props */
function StripMark({ status, mark: Mark }) {
  if (status === 'running') return html`<span class="spinner small" aria-hidden="true"></span>`
  const Shape = status === 'failed' || status === 'denied' ? Cross : (Mark ?? Check)
  return html`<span class="strip-mark"><${Shape} /></span>`
}
