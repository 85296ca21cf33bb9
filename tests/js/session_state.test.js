import assert from 'node:assert/strict'
import test from 'node:test'
import { applyFrame, fromPayload, StreamGap } from '../../cleanroom/static/cleanroom/session_state.js'
import { frame, frames, item, payload, said, text, turn } from './support.js'

const opened = () => fromPayload(payload())
const fold = (session, list) => list.reduce(applyFrame, session)
const conversation = frames(
  0,
  [turn(1, { state: 'submitted' }), said(1, 'hello')],
  item(1, 'item-1', 'agent_message', { body: '', streaming: true }),
  text(1, 'item-1', 'wide '),
  text(1, 'item-1', 'world'),
)

test('a frame at or before the cursor is a replay and changes nothing', () => {
  const session = fold(opened(), conversation)
  assert.equal(applyFrame(session, conversation[3]), session)
  assert.equal(fold(session, conversation), session)
})

test('three cut lines that replay everything leave the text as it was sent, once', () => {
  const cut = [...conversation.slice(0, 3), ...conversation.slice(0, 3), ...conversation.slice(1), ...conversation]
  const { items } = fold(opened(), cut).view.turns[0]
  assert.deepEqual(
    items.map(({ body }) => body),
    ['hello', 'wide world'],
  )
})

test('a frame that leaves a gap, or begins in the middle of what is held, is refused', () => {
  const session = fold(opened(), conversation)
  assert.throws(() => applyFrame(session, frame(9, text(1, 'item-1', 'x'))), StreamGap)
  assert.throws(() => applyFrame(session, { ...frame(2, text(1, 'item-1', 'x')), seq: 6 }), StreamGap)
})

test('an op this page does not know is passed over, and the cursor still moves', () => {
  const next = applyFrame(opened(), frame(0, { op: 'confetti', amount: 3 }))
  assert.equal(next.cursor, 1)
})

test('a text op leaves every other turn, item and the composer the same objects', () => {
  const before = fold(opened(), [
    ...conversation,
    ...frames(
      4,
      turn(1, { state: 'completed' }),
      [turn(2, { state: 'running' }), said(2, 'more')],
      item(2, 'item-2', 'agent_message', { body: '', streaming: true }),
    ),
  ])
  const after = applyFrame(before, frame(7, text(2, 'item-2', 'x')))
  assert.equal(after.view.turns[0], before.view.turns[0])
  assert.equal(after.view.turns[1].items[0], before.view.turns[1].items[0])
  assert.equal(after.view.composer, before.view.composer)
  assert.notEqual(after.view.turns[1].items[1], before.view.turns[1].items[1])
})

test('an old snapshot plus later frames equals a fresh snapshot', () => {
  const fresh = fold(opened(), conversation)
  for (let cut = 0; cut <= conversation.length; cut += 1) {
    const early = fold(opened(), conversation.slice(0, cut))
    const snapshot = fromPayload(payload({ cursor: early.cursor, view: structuredClone(early.view) }))
    assert.deepEqual(fold(snapshot, conversation).view, fresh.view)
  }
})

test('a session opened during a turn is working', () => {
  const running = fold(opened(), conversation)
  assert.equal(fromPayload(payload({ view: running.view })).working, true)
  assert.equal(opened().working, false)
})
