// verdicts.js: approve, reject or defer, item by item, with a reason where one is required.
// @ts-check
import { useState } from 'preact/hooks'
import { html } from '../html.js'
import { visible, words } from '../format.js'

const VERDICTS = ['approve', 'reject', 'defer']

/** @typedef {{ id: string, title: string, requireReason: boolean, lockedVerdict: string | null }} Judged */
/** @typedef {{ verdict: string, reason: string }} Held */

/** @param {{ item: any, payload: any, answer: (outcome: string, result: unknown) => void }} props */
export function Verdicts({ item, payload, answer }) {
  /** @type {Judged[]} */ const items = payload.items
  const [verdicts, setVerdicts] = useState(() => Object.fromEntries(items.map((one) => [one.id, { verdict: one.lockedVerdict ?? '', reason: '' }])))
  const set = (/** @type {string} */ id, /** @type {object} */ change) => setVerdicts({ ...verdicts, [id]: { ...verdicts[id], ...change } })
  const complete = items.every((one) => verdicts[one.id].verdict && !lacksReason(one, verdicts[one.id]))
  return html`
    ${items.map((one) => html`<${VerdictField} key=${one.id} id=${`${item.id}-${one.id}`} one=${one} held=${verdicts[one.id]} onChange=${(/** @type {object} */ change) => set(one.id, change)} />`)}
    <div class="card-actions">
      <button type="button" class="button primary" disabled=${!complete} onClick=${() => answer('answered', { verdicts, summary: items.map((one) => spoken(one, verdicts[one.id])) })}>${payload.submitLabel}</button>
    </div>
  `
}

/** @param {{ id: string, one: Judged, held: Held, onChange: (change: object) => void }} props */
function VerdictField({ id, one, held, onChange }) {
  const options = VERDICTS.map(
    (verdict) => html`
      <label class="choice inline">
        <input type="radio" name=${id} checked=${held.verdict === verdict} disabled=${Boolean(one.lockedVerdict)} onChange=${() => onChange({ verdict })} />
        <span>${words(verdict)}</span>
      </label>
    `,
  )
  return html`
    <fieldset class="choices">
      <legend dir="auto">${visible(one.title)}</legend>
      <div class="choice-row">${options}</div>
      ${one.requireReason && held.verdict && held.verdict !== 'approve'
        ? html`
            <label for=${`${id}-reason`}>Reason</label>
            <textarea id=${`${id}-reason`} rows="2" dir="auto" value=${held.reason} onInput=${(/** @type {any} */ event) => onChange({ reason: event.currentTarget.value })}></textarea>
          `
        : null}
    </fieldset>
  `
}

/** @param {Judged} one @param {Held} held */
function spoken(one, held) {
  return `${one.title}: ${held.verdict}${held.reason.trim() ? ` (${held.reason.trim()})` : ''}`
}

/** @param {Judged} one @param {Held} held */
function lacksReason(one, held) {
  return one.requireReason && held.verdict !== 'approve' && !held.reason.trim()
}
