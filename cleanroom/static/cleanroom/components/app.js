// app.js: the page as a whole: opening, not openable, or a room.
// @ts-check
import { useEffect } from 'preact/hooks'
import { html, useRoom } from '../html.js'
import { Failure, Loading } from './failure.js'
import { Surface } from './surface.js'
import { LiveRegion } from './live_region.js'

export function App() {
  const room = useRoom()
  const { phase, store, composerState, line } = room
  const view = store.head.value?.view
  const title = phase.value === 'open' && view ? `${view.issue.identifier} · ${view.issue.title}` : 'Clean room'
  useEffect(() => {
    document.title = title
  }, [title])
  const body = { loading: Loading, failed: Failure, open: Surface }[phase.value]
  return html`
    <div
      class="page"
      data-surface="chat"
      data-session-mode="live"
      data-thread-state=${threadState(phase.value, composerState.value)}
      data-connection-state=${line.value === 'lost' ? 'reconnecting' : (view?.connection.state ?? 'connecting')}
    >
      <${body} />
      <${LiveRegion} />
    </div>
  `
}

/** @param {string} phase @param {string} composer */
function threadState(phase, composer) {
  if (phase !== 'open') return phase
  if (composer === 'unavailable') return 'failed'
  return composer === 'streaming' ? 'streaming' : 'settled'
}
