// message.js: what people and the agent say.
// @ts-check
import { html } from '../html.js'
import { Note } from './icons.js'
import { Markdown } from './markdown_view.js'

// Codex's own files, in the room's private directory, hold what was typed for as long as the room lives.
const REDACTED =
  'What looked like a secret was sent to Codex as you typed it. It is left out here and in the log; Codex keeps it until this room ends.'

/** @param {{ item: any, sending?: boolean }} props */
export function UserMessage({ item, sending = false }) {
  return html`
    <article class="user" aria-label="You" data-kind="user_message" data-sending=${sending}>
      <div class="bubble" dir="auto">${item.body}</div>
      ${sending ? html`<p class="muted under">Sending…</p>` : null}
      ${item.recorded ? html`<p class="muted under recorded"><${Note} />Recorded to mock thread</p>` : null}
      ${item.redacted ? html`<p class="muted under">${REDACTED}</p>` : null}
    </article>
  `
}

/** @param {{ item: any }} props */
export function AgentMessage({ item }) {
  if (!item.body && !item.streaming) return null
  return html`
    <article class="agent" aria-label="Codex" data-kind="agent_message" data-streaming=${Boolean(item.streaming)}>
      <${Markdown} text=${item.body} />
    </article>
  `
}
