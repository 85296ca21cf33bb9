// verdicts.js: approve, reject or defer, item by item, with a reason where one is required.
// @ts-check
import { useState } from 'preact/hooks'
import { html } from '../html.js'
import { visible, words } from '../format.js'
import { Choice, LongField, Press } from './fields.js'

const VERDICTS = ['approve', 'reject', 'defer']

/** @typedef {{ id: string, title: string, requireReason: boolean, lockedVerdict: string | null }} Judged */
/** @typedef {{ verdict: string, reason: string }} Held */

/** @param {import('./fields.js').CardProps} props */
export function Verdicts({ item, payload, answer }) {
  /** @type {Judged[]} */ const items = payload.items
  const [held, setHeld] = useState(() => firstVerdicts(items))
  const complete = items.every((one) => held[one.id].verdict && !lacksReason(one, held[one.id]))
  const submit = () => answer('answered', { verdicts: held, summary: items.map((one) => spoken(one, held[one.id])) })
  return html`
    ${items.map(
      (one) => html`
        <${VerdictField}
          key=${one.id}
          id=${`${item.id}-${one.id}`}
          one=${one}
          held=${held[one.id]}
          onChange=${(/** @type {object} */ change) => setHeld({ ...held, [one.id]: { ...held[one.id], ...change } })}
        />
      `,
    )}
    <div class="card-actions"><${Press} label=${payload.submitLabel} disabled=${!complete} onPress=${submit} /></div>
  `
}

/** @param {{ id: string, one: Judged, held: Held, onChange: (change: object) => void }} props */
function VerdictField({ id, one, held, onChange }) {
  const choice = (/** @type {string} */ verdict) => html`
    <${Choice}
      label=${words(verdict)}
      group=${id}
      checked=${held.verdict === verdict}
      disabled=${one.lockedVerdict !== null}
      onPick=${() => onChange({ verdict })}
    />
  `
  const asks = one.requireReason && held.verdict && held.verdict !== 'approve'
  const onText = (/** @type {string} */ reason) => onChange({ reason })
  return html`
    <fieldset class="choices">
      <legend dir="auto">${visible(one.title)}</legend>
      <div class="choice-row">${VERDICTS.map(choice)}</div>
      ${asks ? html`<${LongField} id=${`${id}-reason`} label="Reason" value=${held.reason} onText=${onText} />` : null}
    </fieldset>
  `
}

/** @param {Judged[]} items @returns {Record<string, Held>} */
function firstVerdicts(items) {
  return Object.fromEntries(items.map((one) => [one.id, { verdict: one.lockedVerdict ?? '', reason: '' }]))
}

/** @param {Judged} one @param {Held} held */
function spoken(one, { verdict, reason }) {
  return `${one.title}: ${verdict}${reason.trim() ? ` (${reason.trim()})` : ''}`
}

/** @param {Judged} one @param {Held} held */
function lacksReason(one, { verdict, reason }) {
  return one.requireReason && verdict !== 'approve' && !reason.trim()
}
