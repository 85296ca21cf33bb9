import assert from 'node:assert/strict'
import test from 'node:test'
import { announcements } from '../../cleanroom/static/cleanroom/announce.js'
import { applyFrame, fromPayload } from '../../cleanroom/static/cleanroom/session_state.js'
import { card, frames, head, item, payload, said, text, turn } from './support.js'

/** Everything that is said while the frames arrive. */
function heard(list, from = fromPayload(payload())) {
  const all = []
  list.reduce((session, one) => {
    const next = applyFrame(session, one)
    all.push(...announcements(session, next))
    return next
  }, from)
  return all
}

const start = [turn(1, { state: 'submitted' }), said(1, 'go')]
const polite = (all) => all.filter(({ assertive }) => !assertive).map(({ text: words }) => words)

test('forty pieces of one answer are announced as a start and an end', () => {
  const pieces = Array.from({ length: 40 }, (_, place) => text(1, 'item-1', `token${place} `))
  const all = heard(
    frames(
      0,
      start,
      turn(1, { state: 'running' }),
      item(1, 'item-1', 'agent_message', { body: '', streaming: true }),
      ...pieces,
      turn(1, { state: 'completed' }),
    ),
  )
  assert.deepEqual(polite(all), ['Codex started working.', 'Codex finished.'])
  assert.equal(all.length, 2)
})

test('a request is announced once, by its kind', () => {
  const again = card(1, 'approval-1', 'approval')
  const all = heard(frames(0, start, again, again, turn(1, { state: 'completed' })))
  assert.equal(polite(all).filter((words) => words.includes('an approval')).length, 1)
})

test('a turn that fails is announced at once and once, with its cause', () => {
  const failed = turn(1, { state: 'failed', error: { code: 'codex_unavailable', message: 'Codex ended.' } })
  const gone = head({ connection: { state: 'closed', code: 'codex_unavailable', message: 'Codex ended.' } })
  for (const ending of [[[failed, gone]], [failed, gone]]) {
    const urgent = heard(frames(0, start, ...ending)).filter(({ assertive }) => assertive)
    assert.equal(urgent[0].text, 'The turn failed. Codex ended.')
    assert.equal(urgent.length, 1)
  }
})

test('history is not announced', () => {
  const many = Array.from({ length: 24 }, (_, place) => [turn(place + 1, { state: 'completed' }), said(place + 1, 'x')])
  const old = frames(0, ...many).reduce(applyFrame, fromPayload(payload()))
  assert.deepEqual(announcements(null, old), [])
  assert.deepEqual(announcements(fromPayload(payload({ sessionId: 'another' })), old), [])
})

test('a stop and a closed room are told apart from a failure', () => {
  assert.deepEqual(
    polite(heard(frames(0, start, turn(1, { state: 'interrupted', stoppedByUser: true })))).at(-1),
    'Codex stopped.',
  )
  const closed = heard(frames(0, head({ session: { closed: true, code: 'room_yielded' } })))
  assert.deepEqual(closed, [{ text: 'This room was closed.', assertive: true }])
})
