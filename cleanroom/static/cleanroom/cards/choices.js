// choices.js: a list of boxes to tick, for the cards that let a person choose.
// @ts-check
import { html } from '../html.js'
import { Choice } from './fields.js'

/** @typedef {{ id: string, label: string, description?: string, defaultSelected?: boolean }} Option */

/** @param {{ legend: string, options: Option[], chosen: string[], onChange: (ids: string[]) => void }} props */
export function Choices({ legend, options, chosen, onChange }) {
  const toggle = (/** @type {string} */ id) => {
    const left = options.filter((option) => chosen.includes(option.id) !== (option.id === id))
    return onChange(left.map((option) => option.id))
  }
  return html`
    <fieldset class="choices">
      <legend>${legend}</legend>
      ${options.map(
        ({ id, label, description }) => html`
          <${Choice} key=${id} label=${label} note=${description} checked=${chosen.includes(id)} onPick=${() => toggle(id)} />
        `,
      )}
    </fieldset>
  `
}

/** The chosen ones in words, for the record. @param {Option[]} options @param {string[]} chosen */
export function labelsOf(options, chosen) {
  return options.filter(({ id }) => chosen.includes(id)).map(({ label }) => label)
}
