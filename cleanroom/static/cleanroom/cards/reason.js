// reason.js: the Accept and Reject pair that several cards share, with a reason where one is asked for.
// @ts-check
import { useState } from 'preact/hooks'
import { html } from '../html.js'

/**
 * @param {{
 *   id: string, acceptLabel: string, rejectLabel: string, mayAccept?: boolean, requireReason?: boolean,
 *   onAccept: () => void, onReject: (reason: string) => void,
 * }} props
 */
export function AcceptOrReject({ id, acceptLabel, rejectLabel, mayAccept = true, requireReason = false, onAccept, onReject }) {
  const [rejecting, setRejecting] = useState(false)
  const [reason, setReason] = useState('')
  const field = `${id}-reason`
  if (!rejecting) {
    return html`
      <div class="card-actions">
        <button type="button" class="button primary" disabled=${!mayAccept} onClick=${onAccept}>${acceptLabel}</button>
        <button type="button" class="button" onClick=${() => setRejecting(true)}>${rejectLabel}</button>
      </div>
    `
  }
  return html`
    <label for=${field}>What should change? ${requireReason ? null : html`<span class="muted">(optional)</span>`}</label>
    <textarea id=${field} rows="2" dir="auto" ref=${focusOnce} value=${reason} onInput=${(/** @type {any} */ event) => setReason(event.currentTarget.value)}></textarea>
    <div class="card-actions">
      <button type="button" class="button primary" disabled=${requireReason && !reason.trim()} onClick=${() => onReject(reason.trim())}>${rejectLabel}</button>
      <button type="button" class="button quiet" onClick=${() => setRejecting(false)}>Back</button>
    </div>
  `
}

/** @param {HTMLElement | null} element */
function focusOnce(element) {
  element?.focus()
}
