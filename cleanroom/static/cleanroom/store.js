// store.js: the folded session as signals, one per turn and one per item, so that a frame redraws what it touched and
// nothing else. Compares by reference; knows no DOM.
// @ts-check
import { batch, signal } from '@preact/signals'

/** @typedef {import('./types.js').Session} Session */
/** @typedef {import('./types.js').Turn} Turn */
/** @typedef {import('./types.js').Item} Item */
/** @template T @typedef {import('@preact/signals').Signal<T>} Signal */
/** @typedef {{ facts: Signal<Turn>, itemIds: Signal<string[]>, items: Map<string, Signal<Item>> }} TurnEntry */

const NOT_HEAD = new Set(['turns', 'evidence'])

export function createStore() {
  /** @type {Session | null} */ let shown = null
  /** @type {Map<string, TurnEntry>} */ const turns = new Map()
  const head = signal(/** @type {Session | null} */ (null)) // all but turns: those are drawn from below
  const turnIds = signal(/** @type {string[]} */ ([]))
  return {
    head,
    turnIds,
    /** @param {string} id @returns {TurnEntry} */
    turn: (id) => /** @type {TurnEntry} */ (turns.get(id)),
    /** Draw a session: signals move only where it differs from the one drawn before. @param {Session} session */
    publish(session) {
      const before = shown && shown.sessionId === session.sessionId ? shown : null
      shown = session
      batch(() => {
        if (!before) turns.clear()
        publishTurns(turns, before?.view.turns ?? [], session.view.turns)
        if (!before || headMoved(before, session)) head.value = session
        if (!before || before.view.turns.length !== session.view.turns.length)
          turnIds.value = session.view.turns.map(idOf)
      })
    },
  }
}

/** @typedef {ReturnType<typeof createStore>} Store */

/** Whether a message began the turn: such turns have a number and count. @param {TurnEntry} entry */
export function isAsked({ itemIds, items }) {
  return itemIds.value.some((id) => items.get(id)?.peek().kind === 'user_message')
}

/** @param {Map<string, TurnEntry>} entries @param {Turn[]} before @param {Turn[]} after */
function publishTurns(entries, before, after) {
  after.forEach((turn, place) => {
    if (turn === before[place]) return
    const entry = entries.get(turn.id) ?? {
      facts: signal(turn),
      itemIds: signal(turn.items.map(idOf)),
      items: new Map(),
    }
    entries.set(turn.id, entry)
    publishTurn(entry, turn)
  })
}

/** @param {TurnEntry} entry @param {Turn} turn */
function publishTurn(entry, turn) {
  for (const item of turn.items) {
    const held = entry.items.get(item.id)
    if (held) held.value = item
    else entry.items.set(item.id, signal(item))
  }
  if (entry.itemIds.peek().length !== turn.items.length) entry.itemIds.value = turn.items.map(idOf)
  if (differs(entry.facts.peek(), turn, new Set(['items']))) entry.facts.value = turn
}

/** @param {Session} before @param {Session} after */
function headMoved(before, after) {
  return before.working !== after.working || differs(before.view, after.view, NOT_HEAD)
}

/** @param {Record<string, any>} before @param {Record<string, any>} after @param {Set<string>} except */
function differs(before, after, except) {
  return Object.keys(after).some((key) => !except.has(key) && before[key] !== after[key])
}

/** @param {{ id: string }} held */
function idOf({ id }) {
  return id
}
