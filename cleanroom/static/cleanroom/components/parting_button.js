// parting_button.js: a button that goes away once it has done its work. A keyboard's focus goes on to the composer then;
// without that it would be lost to the top of the page.
// @ts-check
import { useLayoutEffect, useRef } from 'preact/hooks'
import { html } from '../html.js'

/**
 * While `waits`, it keeps its place and the focus but does nothing: a button that is disabled would lose it.
 *
 * @param {{ onClick: () => void, waits?: boolean, children?: any, [attribute: string]: any }} props
 */
export function PartingButton({ onClick, waits = false, children, ...attributes }) {
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null))
  useLayoutEffect(() => () => passOn(button.current), [])
  return html`
    <button
      ...${attributes}
      ref=${button}
      type="button"
      aria-disabled=${waits ? 'true' : null}
      onClick=${() => waits || onClick()}
    >
      ${children}
    </button>
  `
}

/** @param {HTMLButtonElement | null} button */
function passOn(button) {
  if (button && document.activeElement === button) document.getElementById('message')?.focus({ preventScroll: true })
}
