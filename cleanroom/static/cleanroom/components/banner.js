// banner.js: what is wrong with the way to the server, or with the agent behind it, and how to go on.
// @ts-check
import { html, useRoom } from '../html.js'
import { todoFor } from '../problems.js'
import { Alert, Check } from './icons.js'
import { PartingButton } from './parting_button.js'
import { Worded } from './worded.js'

export function Banner() {
  const room = useRoom()
  const connection = room.store.head.value?.view.connection
  if (room.over.value || !connection) return null
  if (room.line.value === 'lost') {
    return html`
      <${Bar} tone="warn" text="The connection to the server is lost. Trying to reach it again…">
        <${PartingButton} class="button small" onClick=${room.retryLine}>Try now<//>
      <//>
    `
  }
  if (room.busy.value === 'reconnect' || connection.state === 'reconnecting') {
    return html`<${Bar} tone="warn" text="Reconnecting to the agent… Your conversation stays as it is." />`
  }
  if (connection.state === 'closed') {
    return html`
      <${Bar}
        tone="bad"
        text=${isSaid(room.store, connection.message) ? 'The agent is not running.' : connection.message || 'The agent is not available.'}
        todo=${todoFor(connection.code)}
        code=${connection.code}
      >
        <${PartingButton} class="button small" data-testid="reconnect" onClick=${room.reconnect}>Try again<//>
      <//>
    `
  }
  return room.line.value === 'back' ? html`<${Bar} tone="good" text="Reconnected" />` : null
}

/** Whether the newest turn ended with the same sentence: the thread says it, and keeps it.
 * @param {import('../store.js').Store} store @param {string | null | undefined} message */
function isSaid(store, message) {
  const newest = store.turnIds.value.at(-1)
  return newest !== undefined && store.turn(newest).facts.value.error?.message === message
}

/** @param {{ tone: string, text: string, todo?: string, code?: string | null, children?: any }} props */
function Bar({ tone, text, todo, code, children }) {
  return html`
    <div class="bar" data-tone=${tone} data-testid="reconnect-banner">
      <span class="bar-mark">${tone === 'good' ? html`<${Check} />` : html`<${Alert} />`}</span>
      <div class="bar-text">
        <p>${text}${code ? html` <code>${code}</code>` : null}</p>
        ${todo ? html`<p class="muted"><${Worded} text=${todo} /></p>` : null}
      </div>
      ${children}
    </div>
  `
}
