import assert from 'node:assert/strict'
import test from 'node:test'
import { announcement } from '../../cleanroom/static/cleanroom/announce.js'
import { applyFrame, fromPayload } from '../../cleanroom/static/cleanroom/session_state.js'
import { card, frames, head, item, payload, said, text, turn } from './support.js'

/** Everything that is said while the frames arrive, by how urgently. */
function heard(list) {
  const all = { polite: [], assertive: [] }
  list.reduce((session, one) => {
    const next = applyFrame(session, one)
    for (const [how, words] of Object.entries(announcement(session, next))) if (words) all[how].push(words)
    return next
  }, fromPayload(payload()))
  return all
}

const start = [turn(1, { state: 'submitted' }), said(1, 'go')]
const done = turn(1, { state: 'completed' })

test('forty pieces of one answer are announced as a start and an end', () => {
  const pieces = Array.from({ length: 40 }, (_, place) => text(1, 'item-1', `token${place} `))
  const opening = item(1, 'item-1', 'agent_message', { body: '', streaming: true })
  const all = heard(frames(0, start, turn(1, { state: 'running' }), opening, ...pieces, done))
  assert.deepEqual(all, { polite: ['Codex started working.', 'Codex finished.'], assertive: [] })
})

test('a request is announced once, by its kind, when Codex begins to wait for it', () => {
  const again = card(1, 'approval-1', 'approval')
  const { polite } = heard(frames(0, start, again, again, done, again))
  assert.deepEqual(polite, ['Codex started working.', 'Codex finished. Waiting for you: an approval, Budget.'])
})

test('the next of two requests is announced when the first is answered', () => {
  const both = [card(1, 'a', 'questions'), card(1, 'b', 'confirmation')]
  const { polite } = heard(frames(0, start, both, done, card(1, 'a', 'questions', 'answered')))
  assert.equal(polite.at(-1), 'Waiting for you: a confirmation, Budget.')
})

test('a turn that fails is announced at once and once, with its cause, also when the agent is gone with it', () => {
  const failed = turn(1, { state: 'failed', error: { code: 'codex_unavailable', message: 'Codex ended.' } })
  const gone = head({ connection: { state: 'closed', code: 'codex_unavailable', message: 'Codex ended.' } })
  for (const ending of [[[failed, gone]], [failed, gone], [failed]]) {
    assert.deepEqual(heard(frames(0, start, ...ending)).assertive, ['The turn failed. Codex ended.'])
  }
  assert.deepEqual(heard(frames(0, gone)).assertive, ['Codex ended.'])
})

test('history and another room are not announced', () => {
  const many = Array.from({ length: 24 }, (_, place) => [turn(place + 1, { state: 'completed' }), said(place + 1, 'x')])
  const old = frames(0, ...many).reduce(applyFrame, fromPayload(payload()))
  assert.deepEqual(announcement(fromPayload(payload({ sessionId: 'another' })), old), { polite: '', assertive: '' })
  assert.deepEqual(announcement(old, old), { polite: '', assertive: '' })
})

test('a stop and a closed room are told apart from a failure', () => {
  const stopped = heard(frames(0, start, turn(1, { state: 'interrupted', stoppedByUser: true })))
  assert.deepEqual(stopped, { polite: ['Codex started working.', 'Codex stopped.'], assertive: [] })
  const closed = heard(frames(0, head({ session: { closed: true, code: 'room_yielded' } })))
  assert.deepEqual(closed, { polite: [], assertive: ['This room was closed.'] })
  const cut = turn(1, { state: 'failed', error: { code: 'session_closed', message: 'The chat was closed.' } })
  const reset = heard(frames(0, start, cut, head({ session: { closed: true, code: 'reset' } })))
  assert.deepEqual(reset, { polite: ['Codex started working.'], assertive: ['This room was closed.'] })
})
