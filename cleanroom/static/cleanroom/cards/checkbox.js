// checkbox.js: any of several, within a minimum and a maximum.
// @ts-check
import { useState } from 'preact/hooks'
import { html } from '../html.js'
import { visible } from '../format.js'
import { AcceptOrReject } from './reason.js'

/** @typedef {{ id: string, label: string, description?: string, defaultSelected?: boolean }} Option */

/** @param {{ item: any, payload: any, answer: (outcome: string, result: unknown) => void }} props */
export function Checkbox({ item, payload, answer }) {
  const { options, minSelected, maxSelected } = payload
  const [chosen, setChosen] = useState(() => options.filter((/** @type {Option} */ one) => one.defaultSelected).map((/** @type {Option} */ one) => one.id))
  const fits = chosen.length >= minSelected && chosen.length <= maxSelected
  return html`
    <${Choices} legend=${`Choose ${range(minSelected, maxSelected)}`} options=${options} chosen=${chosen} onChange=${setChosen} />
    <${AcceptOrReject}
      id=${item.id}
      acceptLabel=${payload.acceptLabel}
      rejectLabel=${payload.rejectLabel}
      mayAccept=${fits}
      onAccept=${() => answer('accepted', { selectedOptionIds: chosen, summary: labelsOf(options, chosen) })}
      onReject=${(/** @type {string} */ reason) => answer('rejected', { reason })}
    />
  `
}

/** @param {{ legend: string, options: Option[], chosen: string[], onChange: (ids: string[]) => void }} props */
export function Choices({ legend, options, chosen, onChange }) {
  const toggle = (/** @type {string} */ id) => onChange(options.map((option) => option.id).filter((one) => chosen.includes(one) !== (one === id)))
  return html`
    <fieldset class="choices">
      <legend>${legend}</legend>
      ${options.map(
        (option) => html`
          <label class="choice">
            <input type="checkbox" checked=${chosen.includes(option.id)} onChange=${() => toggle(option.id)} />
            <span dir="auto">${visible(option.label)}${option.description ? html`<span class="muted block">${visible(option.description)}</span>` : null}</span>
          </label>
        `,
      )}
    </fieldset>
  `
}

/** The chosen ones in words, for the record. @param {Option[]} options @param {string[]} chosen */
export function labelsOf(options, chosen) {
  return options.filter(({ id }) => chosen.includes(id)).map(({ label }) => label)
}

/** @param {number} least @param {number} most */
function range(least, most) {
  if (least === most) return `exactly ${most}`
  return least ? `${least} to ${most}` : `up to ${most}`
}
