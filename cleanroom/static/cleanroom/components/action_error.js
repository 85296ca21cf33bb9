// action_error.js: why the last thing a person asked for was refused.
// @ts-check
import { html, useRoom } from '../html.js'
import { Alert, Cross } from './icons.js'
import { PartingButton } from './parting_button.js'

export function ActionError() {
  const room = useRoom()
  const shown = room.problem.value
  if (!shown) return null
  return html`
    <div class="bar" data-tone="bad" data-testid="action-error" data-code=${shown.code}>
      <span class="bar-mark"><${Alert} /></span>
      <div class="bar-text">
        <p>${shown.text} <code>${shown.code}</code></p>
        ${shown.reference ? html`<p class="muted">Reference <code>${shown.reference}</code></p>` : null}
      </div>
      ${
        shown.code === 'turn_limit'
          ? html`<${PartingButton} class="button small" onClick=${room.newChat}>New chat<//>`
          : null
      }
      <${PartingButton} class="button quiet small" aria-label="Dismiss" onClick=${room.dismiss}><${Cross} /><//>
    </div>
  `
}
