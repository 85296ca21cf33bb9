// format.js: numbers, times and names as words. Pure.
// @ts-check

/** A span of time, short: `0.4 s`, `12 s`, `2 min 5 s`. @param {number} ms */
export function duration(ms) {
  if (ms < 1000) return `${Math.max(0.1, Math.round(ms / 100) / 10)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const rest = seconds % 60
  return rest ? `${Math.floor(seconds / 60)} min ${rest} s` : `${seconds / 60} min`
}

/** @param {number} count @param {string} noun */
export function plural(count, noun) {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** `in_progress` becomes `In progress`. @param {unknown} value */
export function words(value) {
  const text = String(value ?? '').replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** @param {number} bytes */
export function fileSize(bytes) {
  if (bytes < 1024) return plural(bytes, 'byte')
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}

/** Milliseconds since the epoch of an ISO time; null when it is none. @param {unknown} at */
export function epoch(at) {
  const value = typeof at === 'string' ? Date.parse(at) : NaN
  return Number.isNaN(value) ? null : value
}

export const ROOM_CLOSED = 'session_closed' // a turn's end when its room was closed over it: nothing went wrong

/**
 * What stands beside `Turn 3`: `12 s`, `2 tools`, `stopped by you`.
 * @param {import('./types.js').Turn} turn @returns {string[]}
 */
export function turnFacts(turn) {
  const facts = []
  const took = turn.durationMs ?? span(turn)
  if (took !== null) facts.push(duration(took))
  if (turn.toolCallCount) facts.push(plural(turn.toolCallCount, 'tool'))
  if (turn.stoppedByUser) facts.push('stopped by you')
  else if (turn.state === 'interrupted') facts.push('stopped')
  else if (turn.state === 'failed') facts.push(turn.error?.code === ROOM_CLOSED ? 'ended with the room' : 'failed')
  return facts
}

/** How long a turn took by its times; a turn that failed may have been ended without a measure.
 * @param {import('./types.js').Turn} turn */
function span({ at, endedAt }) {
  const [from, to] = [epoch(at), epoch(endedAt)]
  return from === null || to === null ? null : Math.max(0, to - from)
}

const HIDDEN = [
  '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f', // controls, but tab and line feed
  '\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u3164\\uffa0', // characters without a shape
  '\\u200b-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\ufe00-\\ufe0f\\ufeff\\ufff0-\\ufffb', // zero-width, direction
]
const VISIBLE_ESCAPES = new RegExp(`[${HIDDEN.join('')}]`, 'g')

/** Draw control, zero-width and direction characters as visible escapes, so that a command reads as it runs. */
export function visible(/** @type {unknown} */ text) {
  const escape = (/** @type {string} */ character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return String(text ?? '').replace(VISIBLE_ESCAPES, escape)
}
