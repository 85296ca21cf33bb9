// finished.js: once the issue is over, the natural next step.
// @ts-check
import { html, useRoom } from '../html.js'
import { isFinished } from '../composer.js'
import { Flag } from './icons.js'

export function Finished() {
  const room = useRoom()
  const view = room.store.head.value?.view
  if (!view || !isFinished(view) || room.over.value || room.composerState.value === 'streaming') return null
  return html`
    <aside class="finished" data-testid="issue-finished" aria-label="Issue finished">
      <${Flag} />
      <p>${view.issue.identifier} is ${view.issue.status}. You can go on talking, but the issue takes no more changes.</p>
      <button type="button" class="button small" onClick=${room.newChat}>New chat</button>
    </aside>
  `
}
