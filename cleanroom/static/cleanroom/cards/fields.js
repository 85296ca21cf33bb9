// fields.js: the few controls that cards are made of.
// @ts-check
import { html } from '../html.js'
import { visible } from '../format.js'

/** @typedef {{ item: any, payload: any, answer: (outcome: string, result: unknown) => void }} CardProps */

/**
 * A text of a few lines under its label.
 * @param {{ id: string, label: string, hint?: string, value: string, onText: (text: string) => void, take?: boolean }} props
 * `take`: take the focus when drawn, because a press of a button asked for this field
 */
export function LongField({ id, label, hint, value, onText, take = false }) {
  return html`
    <label for=${id} dir="auto">${visible(label)}${hint ? html` <span class="muted">${hint}</span>` : null}</label>
    <textarea
      id=${id}
      rows="2"
      dir="auto"
      ref=${take ? focusOn : null}
      value=${value}
      onInput=${(/** @type {any} */ event) => onText(event.currentTarget.value)}
    ></textarea>
  `
}

/**
 * One box to tick, or one of a group when it has a `group`.
 * @param {{ label: string, note?: string, checked: boolean, group?: string, disabled?: boolean, onPick: () => void }} props
 */
export function Choice({ label, note, checked, group, disabled = false, onPick }) {
  const type = group ? 'radio' : 'checkbox'
  return html`
    <label class="choice">
      <input type=${type} name=${group} checked=${checked} disabled=${disabled} onChange=${onPick} />
      <span dir="auto">${visible(label)}${note ? html`<span class="muted block">${visible(note)}</span>` : null}</span>
    </label>
  `
}

/** @param {{ label: string, look?: string, disabled?: boolean, onPress: () => void }} props */
export function Press({ label, look = 'primary', disabled = false, onPress }) {
  return html`<button type="button" class=${`button ${look}`} disabled=${disabled} onClick=${onPress}>${label}</button>`
}

/** @param {HTMLElement | null} element */
function focusOn(element) {
  element?.focus()
}
