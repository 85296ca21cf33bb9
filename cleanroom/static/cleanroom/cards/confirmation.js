// confirmation.js: yes or no to one thing.
// @ts-check
import { html } from '../html.js'
import { visible } from '../format.js'
import { AcceptOrReject } from './reason.js'

/** @param {{ item: any, payload: any, answer: (outcome: string, result: unknown) => void }} props */
export function Confirmation({ item, payload, answer }) {
  const target = payload.targetSummary
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
