// approval.js: what only the board may decide: approve, reject or cancel, with a note that goes on the record.
// @ts-check
import { useState } from 'preact/hooks'
import { html } from '../html.js'
import { Facts } from '../components/facts.js'
import { approvedFacts } from './asked.js'
import { LongField, Press } from './fields.js'

/** @param {import('./fields.js').CardProps} props */
export function Approval({ item, payload, answer }) {
  const [note, setNote] = useState('')
  const decide = (/** @type {string} */ outcome) => () => answer(outcome, { note: note.trim() })
  return html`
    <${Facts} facts=${approvedFacts(payload.details, item)} />
    <${LongField} id=${`${item.id}-note`} label="Note" hint="(optional, goes on the record)" value=${note} onText=${setNote} />
    <div class="card-actions">
      <${Press} label="Approve" onPress=${decide('approved')} />
      <${Press} label="Reject" look="" onPress=${decide('rejected')} />
      <${Press} label="Cancel" look="quiet" onPress=${decide('cancelled')} />
    </div>
  `
}
