// stream.js: one WebSocket that always continues from the newest event held. Knows sockets and time; what a frame means
// is its caller's business.
// @ts-check
import { StreamGap } from './session_state.js'

/** @typedef {import('./types.js').Frame} Frame */
/**
 * @typedef {object} Handlers
 * @property {() => number} cursor  number of the newest event held
 * @property {(frame: Frame) => void} onFrame
 * @property {(state: 'open' | 'lost', attempt: number) => void} onState
 * @property {() => void} onGap
 * @property {(code: string) => void} onGone
 */
/**
 * @typedef {object} Outside
 * @property {(after: number) => string} url
 * @property {typeof WebSocket} [Socket]
 * @property {() => number} [random]
 * @property {() => number} [now]
 */
/** @typedef {{ retryNow: () => void, close: () => void }} Stream */

const FIRST_DELAY_MS = 400
const LONGEST_DELAY_MS = 15_000
const SILENCE_MS = 40_000 // the server's heart beats every 15 s; two missed beats and a little are a dead line
const CONNECT_MS = 10_000 // a line that is not there in this time will not come: nobody says so when packets are lost
const STEADY_MS = 3_000 // a line that held this long starts over with the shortest delay
const GONE = 4404 // close code of a room that is retired, or is not ours
const BAD_CURSOR = 4400 // close code of a cursor the server does not have

/** The wait before try number `attempt` (from 0), with jitter so that tabs do not return in step. */
export function backoff(/** @type {number} */ attempt, /** @type {number} */ random) {
  const full = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt)
  return Math.round(full * (0.5 + random / 2))
}

/**
 * Follow a room until `close()`.
 *
 * `onFrame` may throw `StreamGap`: the line is taken up again from `cursor()`, and when that leaves a gap too, `onGap`
 * is asked to load a fresh snapshot. `onState` is told `open` or `lost`, `onGone` that the room does not exist.
 * @param {Handlers & Outside} options
 * @returns {Stream}
 */
export function openStream({
  url,
  cursor,
  onFrame,
  onState,
  onGap,
  onGone,
  Socket = WebSocket,
  random = Math.random,
  now = Date.now,
}) {
  /** @type {WebSocket | null} */ let socket = null
  /** @type {ReturnType<typeof setTimeout> | undefined} */ let retry
  /** @type {ReturnType<typeof setTimeout> | undefined} */ let watchdog
  let attempt = 0
  let gaps = 0
  let openedAt = 0
  let ended = false

  function connect() {
    clearTimeout(retry)
    const line = new Socket(url(cursor()))
    socket = line
    giveUpAfter(CONNECT_MS)
    line.onopen = () => {
      if (line === socket) giveUpAfter(SILENCE_MS)
      openedAt = now()
      onState('open', attempt)
    }
    line.onmessage = (message) => {
      if (line === socket) receive(message.data)
    }
    line.onclose = (event) => {
      if (line === socket) lost(event.code)
    }
  }

  /** @param {string} data */
  function receive(data) {
    giveUpAfter(SILENCE_MS)
    try {
      onFrame(JSON.parse(data))
      gaps = 0
    } catch (error) {
      if (!(error instanceof StreamGap) && !(error instanceof SyntaxError)) throw error
      gaps += 1
      drop()
      if (gaps > 1) onGap()
      else connect()
    }
  }

  /** @param {number} code */
  function lost(code) {
    drop()
    if (code === GONE) return onGone('unknown_session')
    if (code === BAD_CURSOR) return onGap()
    if (openedAt && now() - openedAt >= STEADY_MS) attempt = 0
    openedAt = 0
    onState('lost', attempt + 1)
    if (ended) return undefined // the caller closed the stream in answer
    retry = setTimeout(connect, backoff(attempt, random()))
    attempt += 1
    return undefined
  }

  /** @param {number} quietMs */
  function giveUpAfter(quietMs) {
    clearTimeout(watchdog)
    watchdog = setTimeout(() => lost(0), quietMs)
  }

  function drop() {
    clearTimeout(watchdog)
    clearTimeout(retry)
    const line = socket
    socket = null
    line?.close()
  }

  connect()
  return {
    /** Try at once: the network is back, or a person asked. */
    retryNow() {
      if (ended || socket) return
      attempt = 0
      connect()
    },
    close() {
      ended = true
      drop()
    },
  }
}
