// expandable.js: a text as long as it is; only a really long one is folded, and unfolds whole by a button.
// @ts-check
import { useEffect, useRef, useState } from 'preact/hooks'
import { html } from '../html.js'

const FOLDED_PX = 320 // about twelve lines
const SPARED_PX = 120 // folding away less than this is not worth a button

/** @param {{ id: string, label: string, children?: any }} props `label`: of what, for who hears the button alone */
export function Expandable({ id, label, children }) {
  const body = useRef(/** @type {HTMLElement | null} */ (null))
  const [isLong, setLong] = useState(false)
  const [open, setOpen] = useState(false)
  useEffect(() => watch(/** @type {HTMLElement} */ (body.current?.firstElementChild), setLong), [])
  return html`
    <div class="expandable">
      <div ref=${body} id=${id} class="excerpt" data-folded=${isLong && !open}><div>${children}</div></div>
      ${
        isLong
          ? html`
              <button
                type="button"
                class="button small"
                aria-expanded=${open ? 'true' : 'false'}
                aria-controls=${id}
                onClick=${() => setOpen(!open)}
              >
                ${open ? 'Show less' : 'Show all'}<span class="hidden-visually"> of ${label}</span>
              </button>
            `
          : null
      }
    </div>
  `
}

/** Follow how high a text is: it changes with the window. @param {HTMLElement} text @param {(isLong: boolean) => void} tell */
function watch(text, tell) {
  const measure = () => tell(text.scrollHeight > FOLDED_PX + SPARED_PX)
  const observer = new ResizeObserver(measure)
  observer.observe(text)
  measure()
  return () => observer.disconnect()
}
