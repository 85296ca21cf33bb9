// confirmation.js: yes or no to one thing.
// @ts-check
import { html } from '../html.js'
import { visible } from '../format.js'
import { AcceptOrReject } from './reason.js'

/** @param {import('./fields.js').CardProps} props */
export function Confirmation({ item, payload, answer }) {
  const { targetSummary: target } = payload
  return html`
    ${target && target !== item.prompt ? html`<p class="target" dir="auto">${visible(target)}</p>` : null}
    <${AcceptOrReject}
      id=${item.id}
      acceptLabel=${payload.acceptLabel}
      rejectLabel=${payload.rejectLabel}
      requireReason=${payload.requireRejectReason}
      onAccept=${() => answer('accepted', {})}
      onReject=${(/** @type {string} */ reason) => answer('rejected', { reason })}
    />
  `
}
