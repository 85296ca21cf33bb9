// What several tests build on: a room's first payload, ops in short, and parts that only remember.
import { readFileSync } from 'node:fs'

export const AT = '2026-01-02T03:04:05.000Z'

export function payload(more = {}) {
  return {
    sessionId: 'session-1',
    cursor: 0,
    identity: { token: 'abcd1234', identifier: 'MCK-7' },
    limits: { maxTurns: 24, maxMessageBytes: 8192 },
    view: {
      identity: {},
      issue: { identifier: 'MCK-7', title: 'Clean-room chat', status: 'in_progress' },
      turns: [],
      composer: null,
      evidence: { tools: [], calls: [], authorization: [], controlPlane: [], runner: [] },
      connection: { state: 'connected', attempt: 0, code: null, message: null },
      session: { closed: false, code: null },
    },
    ...more,
  }
}

export const head = (set) => ({ op: 'head', set })
export const turn = (ordinal, facts) => ({ op: 'turn', turn: { id: `turn-${ordinal}`, ordinal, ...facts } })
export const item = (ordinal, id, kind, facts) => ({
  op: 'item',
  turnId: `turn-${ordinal}`,
  item: { id, kind, at: AT, ...facts },
})
export const text = (ordinal, id, piece) => ({ op: 'text', turnId: `turn-${ordinal}`, id, text: piece })
export const said = (ordinal, body) => item(ordinal, `message-${ordinal}`, 'user_message', { body })
export const frame = (after, ...ops) => ({ type: 'frame', after, seq: after + 1, ops })

/** Frames that follow one another from a cursor, one event each. */
export function frames(after, ...each) {
  return each.map((ops, place) => frame(after + place, ...[ops].flat()))
}

export const card = (ordinal, id, kind, state = 'pending') =>
  item(ordinal, `card:${id}`, 'interaction', { interactionId: id, interactionKind: kind, title: 'Budget', state })

/** A Storage in memory; `full` makes every write fail, as a full or forbidden one does. */
export function storage({ full = false } = {}) {
  const held = {}
  const methods = {
    getItem: (key) => held[key] ?? null,
    setItem: (key, value) => {
      if (full) throw new DOMException('full', 'QuotaExceededError')
      held[key] = String(value)
    },
    removeItem: (key) => delete held[key],
  }
  Object.defineProperties(held, Object.fromEntries(Object.entries(methods).map(([name, value]) => [name, { value }])))
  return held
}

export function cases(name) {
  const lines = readFileSync(new URL(`cases/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
  return lines.map((line) => JSON.parse(line))
}

/** Let everything that is already due happen. */
export const settled = () => new Promise((resolve) => setImmediate(resolve))
