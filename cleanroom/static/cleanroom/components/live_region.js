// live_region.js: where announcements are read from. Drawn once and never removed, or screen readers would miss them.
// @ts-check
import { html, useRoom } from '../html.js'

export function LiveRegion() {
  const { polite, assertive, count } = useRoom().said.value
  return html`
    <div class="hidden-visually">
      <div role="status" aria-live="polite" data-testid="thread-live-region">
        ${polite ? html`<p key=${count}>${polite}</p>` : null}
      </div>
      <div role="alert" aria-live="assertive" data-testid="thread-alert-region">
        ${assertive ? html`<p key=${count}>${assertive}</p>` : null}
      </div>
    </div>
  `
}
