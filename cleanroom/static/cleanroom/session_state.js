// session_state.js: what one chat looks like, as a value, and how a frame changes it. Its twin on the server passes the
// same vectors (tests/vectors/frames.json). Pure: no DOM, no fetch, no clock.
// @ts-check
import { activeTurn, composerOf } from './composer.js'

/** @typedef {import('./types.js').Session} Session */
/** @typedef {import('./types.js').Frame} Frame */
/** @typedef {import('./types.js').Turn} Turn */
/** @typedef {import('./types.js').Item} Item */
/** @typedef {import('./types.js').Op} Op */

const STOPPED = 'Stopped'
const TOO_LATE = 'Codex had already finished'
const ENDED_TURN = new Set(['completed', 'interrupted', 'failed'])
const MESSAGES = new Set(['user_message', 'agent_message'])
const TOOL_CALL = new Set(['tool_activity', 'denial'])

/** A frame does not continue what is held: the caller subscribes again from its cursor. */
export class StreamGap extends Error {
  /** @param {number} cursor @param {unknown} after */
  constructor(cursor, after) {
    super(`the stream continues after event ${after}, but this page holds ${cursor}`)
    this.cursor = cursor
  }
}

/** A session from an open payload: a snapshot and the cursor it was taken at. @param {any} payload @returns {Session} */
export function fromPayload({ sessionId, cursor, identity, limits, view }) {
  return { sessionId, cursor, identity, limits, view: derive(view), working: activeTurn(view) !== null }
}

/**
 * Fold one frame in. A frame that ends at or before the cursor is a replay after a reconnect and changes nothing, but for
 * one: a part of an event too large for a single frame begins and ends at the cursor, and only its last part moves it.
 * What a frame does not touch keeps its identity, so that drawing compares by reference.
 * @param {Session} session @param {Frame} frame @returns {Session}
 */
export function applyFrame(session, frame) {
  const { cursor } = session
  if (!Array.isArray(frame.ops) || (frame.seq <= cursor && frame.after !== cursor)) return session
  if (frame.after !== cursor) throw new StreamGap(cursor, frame.after)
  const folded = frame.ops.reduce((view, op) => (APPLY[op.op] ?? ignore)(view, op), session.view)
  const view = frame.ops.every((op) => op.op === 'text') ? folded : derive(folded) // prose never moves the composer
  return { ...session, cursor: frame.seq, view, working: frame.working ?? session.working }
}

/** @type {Record<string, (view: any, op: Op) => any>} */
const APPLY = { head, turn, item, text, row }

/** An op of a newer server is not ours to guess at. @param {any} view */
function ignore(view) {
  return view
}

/** @param {any} view @param {Op} op */
function head(view, { set }) {
  const changed = Object.entries(set).map(([key, change]) => [key, { ...view[key], ...change }])
  return { ...view, ...Object.fromEntries(changed) }
}

/** @param {any} view @param {Op} op */
function turn(view, { turn: change }) {
  return withTurn(view, change.id, change.at, (held) => {
    const next = { ...held, ...change, items: held.items }
    return ENDED_TURN.has(next.state)
      ? { ...next, items: next.items.map((/** @type {Item} */ one) => stopped(next, settled(one))) }
      : next
  })
}

/** @param {any} view @param {Op} op */
function item(view, { turnId, item: given }) {
  return withTurn(view, homeOf(view, turnId, given), given.at, (held) => {
    const next = stopped(held, given)
    const place = placeOf(held.items, next.id)
    if (place >= 0) return { ...held, items: replaced(held.items, place, { ...next, at: held.items[place].at }) }
    const toolCallCount = (held.toolCallCount ?? 0) + Number(TOOL_CALL.has(next.kind))
    return { ...held, toolCallCount, items: [...held.items, next] }
  })
}

/** Text of an item that never started is dropped: the completed item brings it whole. @param {any} view @param {Op} op */
function text(view, { turnId, id, text: piece }) {
  const turnPlace = placeOf(view.turns, turnId)
  const place = turnPlace < 0 ? -1 : placeOf(view.turns[turnPlace].items, id)
  const held = view.turns[turnPlace]
  if (place < 0 || !MESSAGES.has(held.items[place].kind)) return view
  const grown = { ...held.items[place], body: held.items[place].body + piece }
  return { ...view, turns: replaced(view.turns, turnPlace, { ...held, items: replaced(held.items, place, grown) }) }
}

/** @param {any} view @param {Op} op */
function row(view, { section, row: next }) {
  const rows = view.evidence[section]
  const place = placeOf(rows, next.id)
  const changed = place < 0 ? [...rows, next] : replaced(rows, place, next)
  return { ...view, evidence: { ...view.evidence, [section]: changed } }
}

/** The composer is derived, never sent; it keeps its identity while it says the same. @param {any} view */
function derive(view) {
  const composer = composerOf(view)
  const same = view.composer && Object.entries(composer).every(([key, value]) => view.composer[key] === value)
  return same ? view : { ...view, composer }
}

/** @param {any} view @param {string} id @param {string | undefined} at @param {(turn: Turn) => Turn} change */
function withTurn(view, id, at, change) {
  const place = placeOf(view.turns, id)
  if (place < 0) return { ...view, turns: [...view.turns, change(emptyTurn(id, at))] }
  return { ...view, turns: replaced(view.turns, place, change(view.turns[place])) }
}

/** A turn that an op named before anything introduced it: it is over, until an op says otherwise.
 * @param {string} id @param {string | undefined} at @returns {Turn} */
function emptyTurn(id, at) {
  const number = id.slice(id.lastIndexOf('-') + 1)
  return {
    id,
    ordinal: /^\d+$/.test(number) ? Number(number) : 0,
    mode: 'live',
    state: 'completed',
    at: at ?? null,
    endedAt: null,
    durationMs: null,
    stoppedByUser: false,
    toolCallCount: 0,
    error: null,
    items: [],
  }
}

/** A card stays in the turn that asked, although a later turn or none brings its answer.
 * @param {any} view @param {string} turnId @param {Item} next */
function homeOf(view, turnId, next) {
  if (next.kind !== 'interaction') return turnId
  const home = view.turns.find((/** @type {Turn} */ held) => placeOf(held.items, next.id) >= 0)
  return home?.id ?? turnId
}

/** A Stop waits for nothing in a turn that has ended; its acknowledgement may come before the end or after it.
 * @param {Turn} turn @param {Item} held @returns {Item} */
function stopped({ id, state }, held) {
  if (held.id !== `stop-${id}` || !ENDED_TURN.has(state)) return held
  return { ...held, summary: state === 'completed' ? TOO_LATE : STOPPED }
}

/** Nothing streams or runs in a turn that has ended, whatever cut it. @param {Item} held @returns {Item} */
function settled(held) {
  if (held.streaming) return { ...held, streaming: false }
  return held.status === 'running' ? { ...held, status: 'failed' } : held
}

/** Newest first: what changes nearly always stands at the end. @param {{ id: string }[]} rows @param {string} id */
function placeOf(rows, id) {
  return rows.findLastIndex((held) => held.id === id)
}

/** @template T @param {T[]} rows @param {number} place @param {T} next */
function replaced(rows, place, next) {
  const copy = rows.slice()
  copy[place] = next
  return copy
}
