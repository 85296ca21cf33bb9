// reason.js: the Accept and Reject pair that several cards share; rejecting asks what should change.
// @ts-check
import { useState } from 'preact/hooks'
import { html } from '../html.js'
import { LongField, Press } from './fields.js'

/**
 * @typedef {object} Props
 * @property {string} id
 * @property {string} acceptLabel
 * @property {string} rejectLabel
 * @property {boolean} [mayAccept]
 * @property {boolean} [requireReason]
 * @property {() => void} onAccept
 * @property {(reason: string) => void} onReject
 */

/** @param {Props} props */
export function AcceptOrReject({ id, acceptLabel, rejectLabel, mayAccept = true, requireReason, onAccept, onReject }) {
  const [rejecting, setRejecting] = useState(false)
  const [reason, setReason] = useState('')
  if (!rejecting) {
    return html`
      <div class="card-actions">
        <${Press} label=${acceptLabel} disabled=${!mayAccept} onPress=${onAccept} />
        <${Press} label=${rejectLabel} look="" onPress=${() => setRejecting(true)} />
      </div>
    `
  }
  const hint = requireReason ? '' : '(optional)'
  const missing = Boolean(requireReason) && !reason.trim()
  return html`
    <${LongField} id=${`${id}-reason`} label="What should change?" hint=${hint} value=${reason} onText=${setReason} take=${true} />
    <div class="card-actions">
      <${Press} label=${rejectLabel} disabled=${missing} onPress=${() => onReject(reason.trim())} />
      <${Press} label="Back" look="quiet" onPress=${() => setRejecting(false)} />
    </div>
  `
}
