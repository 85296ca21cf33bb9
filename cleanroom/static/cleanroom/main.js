// main.js: puts the parts together in the browser: addresses from the page, its storage, its sockets, its frames.
// @ts-check
import { render } from 'preact'
import { html, RoomContext } from './html.js'
import { createApi } from './api.js'
import { createDrafts } from './draft.js'
import { CHAT, parseRoute } from './route.js'
import { createRoom } from './room.js'
import { browserStorage, createMemory, SESSION_KEY } from './storage.js'
import { openStream } from './stream.js'
import { App } from './components/app.js'

const HIDDEN_TAB_MS = 250 // a hidden tab gets no animation frames, yet its state must stay true

const root = /** @type {HTMLElement} */ (document.getElementById('app'))
const { api: base = '', stream: streamPath = '' } = root.dataset
const memory = createMemory(browserStorage())

const api = createApi({ base })
const room = createRoom({
  api,
  memory,
  drafts: createDrafts(memory),
  follow: ({ sessionId, ...handlers }) => openStream({ url: (after) => streamUrl(sessionId, after), ...handlers }),
  schedule: oncePerFrame(),
})

/** @param {string} sessionId @param {number} after */
function streamUrl(sessionId, after) {
  const address = new URL(streamPath, location.href)
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
  address.search = new URLSearchParams({ sessionId, after: String(after) }).toString()
  return address.href
}

/** @returns {(draw: () => void) => void} */
function oncePerFrame() {
  let waiting = false
  return (draw) => {
    if (waiting) return
    waiting = true
    const run = () => {
      waiting = false
      draw()
    }
    if (document.hidden) setTimeout(run, HIDDEN_TAB_MS)
    else requestAnimationFrame(run)
  }
}

function keepRoute() {
  if (parseRoute(location).surface !== 'chat') history.replaceState(null, '', CHAT)
}

keepRoute()
addEventListener('hashchange', keepRoute)
addEventListener('storage', ({ key, newValue }) => {
  if (key === SESSION_KEY) room.noticeOtherRoom(newValue ?? '')
})
addEventListener('online', room.retryLine)
document.addEventListener('visibilitychange', () => document.hidden || room.retryLine())
addEventListener('pageshow', ({ persisted }) => persisted && room.start()) // back from the browser's page cache

root.replaceChildren()
render(html`<${RoomContext.Provider} value=${room}><${App} /><//>`, root)
const { earlyAnswer } = /** @type {import('./types.js').Early} */ (/** @type {unknown} */ (globalThis))
room.startFrom(api.opened(earlyAnswer))
