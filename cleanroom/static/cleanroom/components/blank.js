// blank.js: the thread before anyone has said anything: one explanation, and a few ways to begin.
// @ts-check
import { html, useRoom } from '../html.js'

const EXAMPLES = [
  'Read this issue, then record a one-sentence status on it',
  'Write a short project plan as a document on this issue',
  'Ask me a question before you begin',
]

export function Blank() {
  const room = useRoom()
  const identifier = room.store.head.value?.view.issue.identifier
  const fill = (/** @type {string} */ text) => {
    room.suggest(text)
    document.getElementById('message')?.focus()
  }
  return html`
    <section class="blank" data-testid="clean-room-empty" aria-labelledby="blank-title">
      <h2 id="blank-title">What should Codex do?</h2>
      <p>
        A real Codex agent works ${identifier}, a blank issue in a mock company, with tools it picks itself.
        Everything it records appears here; nothing reaches a real Paperclip.
      </p>
      <ul class="examples" aria-label="Examples to begin with">
        ${EXAMPLES.map(
          (text) => html`
            <li><button type="button" class="example" onClick=${() => fill(text)}>${text}</button></li>
          `,
        )}
      </ul>
    </section>
  `
}
