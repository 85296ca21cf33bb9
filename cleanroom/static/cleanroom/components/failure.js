// failure.js: the two pages without a room: on the way to one, and exactly why there is none.
// @ts-check
import { useEffect, useRef } from 'preact/hooks'
import { html, useRoom } from '../html.js'
import { Alert } from './icons.js'
import { Worded } from './worded.js'

export function Loading() {
  const { busy } = useRoom()
  const asked = busy.value === 'reset' || busy.value === 'new_chat'
  return html`
    <main class="centre" data-testid="surface-loading" aria-busy="true">
      <div class="loading" role="status">
        <span class="spinner" aria-hidden="true"></span>
        <h1>${asked ? 'Opening a fresh room' : 'Opening your room'}</h1>
        <p>Starting runnerd and Codex. This takes a moment.</p>
      </div>
    </main>
  `
}

export function Failure() {
  const room = useRoom()
  const retry = useRef(/** @type {HTMLButtonElement | null} */ (null))
  const shown = room.failure.value
  useEffect(() => retry.current?.focus(), [])
  if (!shown) return null
  return html`
    <main class="centre">
      <div class="failure" role="alert" data-testid="surface-error" data-code=${shown.code}>
        <span class="failure-mark"><${Alert} /></span>
        <h1>${shown.title}</h1>
        <p>${shown.text}</p>
        <p class="muted"><${Worded} text=${shown.todo} /></p>
        <p class="code-line">
          <code>${shown.code}</code>${shown.reference ? html` · reference <code>${shown.reference}</code>` : null}
        </p>
        <div class="failure-actions">
          <button ref=${retry} type="button" class="button primary" data-testid="surface-error-retry" onClick=${room.retry}>
            Try again
          </button>
          ${room.mayGoBack.value ? html`<${Back} />` : null}
        </div>
      </div>
    </main>
  `
}

/** The room that was to be left is still there. */
function Back() {
  const room = useRoom()
  return html`
    <button type="button" class="button" data-testid="surface-error-back" onClick=${room.start}>Back to your room</button>
  `
}
