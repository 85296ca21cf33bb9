// approval.js: what only the board may decide: approve, reject or cancel, with a note that goes on the record.
// @ts-check
import { useState } from 'preact/hooks'
import { html } from '../html.js'
import { Facts, rowsOf } from '../components/facts.js'

/** @param {{ item: any, payload: any, answer: (outcome: string, result: unknown) => void }} props */
export function Approval({ item, payload, answer }) {
  const [note, setNote] = useState('')
  const decide = (/** @type {string} */ outcome) => answer(outcome, { note: note.trim() })
  const field = `${item.id}-note`
  return html`
    <${Facts} facts=${rowsOf(payload.details)} />
    <label for=${field}>Note <span class="muted">(optional, goes on the record)</span></label>
    <textarea id=${field} rows="2" dir="auto" value=${note} onInput=${(/** @type {any} */ event) => setNote(event.currentTarget.value)}></textarea>
    <div class="card-actions">
      <button type="button" class="button primary" onClick=${() => decide('approved')}>Approve</button>
      <button type="button" class="button" onClick=${() => decide('rejected')}>Reject</button>
      <button type="button" class="button quiet" onClick=${() => decide('cancelled')}>Cancel</button>
    </div>
  `
}
