// checkbox.js: any of several, within a minimum and a maximum.
// @ts-check
import { useState } from 'preact/hooks'
import { html } from '../html.js'
import { Choices, labelsOf } from './choices.js'
import { AcceptOrReject } from './reason.js'

/** @param {import('./fields.js').CardProps} props */
export function Checkbox({ item, payload, answer }) {
  /** @type {import('./choices.js').Option[]} */ const options = payload.options
  const { minSelected: least, maxSelected: most } = payload
  const [chosen, setChosen] = useState(() => options.filter((one) => one.defaultSelected).map((one) => one.id))
  const accept = () => answer('accepted', { selectedOptionIds: chosen, summary: labelsOf(options, chosen) })
  return html`
    <${Choices} legend=${`Choose ${range(least, most)}`} options=${options} chosen=${chosen} onChange=${setChosen} />
    <${AcceptOrReject}
      id=${item.id}
      acceptLabel=${payload.acceptLabel}
      rejectLabel=${payload.rejectLabel}
      mayAccept=${chosen.length >= least && chosen.length <= most}
      onAccept=${accept}
      onReject=${(/** @type {string} */ reason) => answer('rejected', { reason })}
    />
  `
}

/** @param {number} least @param {number} most */
function range(least, most) {
  if (least === most) return `exactly ${most}`
  return least ? `${least} to ${most}` : `up to ${most}`
}
