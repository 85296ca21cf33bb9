import assert from 'node:assert/strict'
import test from 'node:test'
import { effect } from '@preact/signals'
import { applyFrame, fromPayload } from '../../cleanroom/static/cleanroom/session_state.js'
import { createStore } from '../../cleanroom/static/cleanroom/store.js'
import { frame, frames, head, item, payload, said, text, turn } from './support.js'

function thread(turnCount) {
  const ops = Array.from({ length: turnCount }, (_, place) => [
    turn(place + 1, { state: place + 1 === turnCount ? 'running' : 'completed' }),
    said(place + 1, 'hello'),
    item(place + 1, `item-${place + 1}`, 'agent_message', { body: '', streaming: true }),
  ])
  return frames(0, ...ops).reduce(applyFrame, fromPayload(payload()))
}

/** How often each signal moved while `act` ran. */
function moves(store, act) {
  const counts = {}
  const stops = []
  const count = (name, signal) => {
    let first = true
    stops.push(
      effect(() => {
        signal.value
        if (!first) counts[name] = (counts[name] ?? 0) + 1
        first = false
      }),
    )
  }
  count('head', store.head)
  count('turnIds', store.turnIds)
  for (const id of store.turnIds.peek()) {
    const entry = store.turn(id)
    count(id, entry.facts)
    count(`${id} items`, entry.itemIds)
    for (const [name, signal] of entry.items) count(name, signal)
  }
  act()
  for (const stop of stops) stop()
  return counts
}

test('a piece of text moves the signal of its item and no other, however long the thread', () => {
  for (const length of [1, 24, 200]) {
    const store = createStore()
    const session = thread(length)
    store.publish(session)
    const next = applyFrame(session, frame(session.cursor, text(length, `item-${length}`, 'x')))
    assert.deepEqual(
      moves(store, () => store.publish(next)),
      { [`item-${length}`]: 1 },
    )
  }
})

test('a header fact moves the head alone; a settled turn moves itself and the head', () => {
  const store = createStore()
  const session = thread(2)
  store.publish(session)
  const done = applyFrame(session, frame(session.cursor, head({ issue: { status: 'done' } })))
  assert.deepEqual(
    moves(store, () => store.publish(done)),
    { head: 1 },
  )
  const ended = applyFrame(done, frame(done.cursor, turn(2, { state: 'completed' })))
  assert.deepEqual(
    moves(store, () => store.publish(ended)),
    { head: 1, 'turn-2': 1, 'item-2': 1 },
  )
})

test('another room replaces everything', () => {
  const store = createStore()
  store.publish(thread(3))
  store.publish(fromPayload(payload({ sessionId: 'session-2' })))
  assert.deepEqual(store.turnIds.peek(), [])
  assert.equal(store.head.peek().sessionId, 'session-2')
})
