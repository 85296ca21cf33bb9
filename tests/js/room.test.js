// A room with parts that only remember: what the page would ask of the server, and what it would show.
import assert from 'node:assert/strict'
import test from 'node:test'
import { ApiError } from '../../cleanroom/static/cleanroom/api.js'
import { createDrafts, DRAFT_PREFIX } from '../../cleanroom/static/cleanroom/draft.js'
import { createRoom } from '../../cleanroom/static/cleanroom/room.js'
import { createMemory, SESSION_KEY } from '../../cleanroom/static/cleanroom/storage.js'
import { card, frame, frames, head, payload, said, settled, storage, turn } from './support.js'

/** A room opened from `answers` (one per call of the server, in order), its calls, and its newest stream. */
async function enter(answers = [payload()], { held = storage() } = {}) {
  const calls = []
  const streams = []
  const answer =
    (name) =>
    (...args) => {
      calls.push([name, ...args])
      const next = answers.shift()
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next)
    }
  const names = ['open', 'newChat', 'send', 'interrupt', 'reconnect', 'reset', 'answer']
  const memory = createMemory(held)
  let named = 0
  const room = createRoom({
    api: Object.fromEntries(names.map((name) => [name, answer(name)])),
    memory,
    drafts: createDrafts(memory),
    schedule: (draw) => draw(),
    now: () => 1_000,
    nameMessage: () => `m-${(named += 1)}`,
    follow: (handlers) => {
      const stream = { ...handlers, closed: false, close: () => (stream.closed = true), retryNow() {} }
      streams.push(stream)
      return stream
    },
  })
  await room.start()
  const feed = (...list) => list.forEach((one) => streams.at(-1).closed || streams.at(-1).onFrame(one))
  return { room, calls, answers, held, streams, feed }
}

const refusal = (code, message = 'No.') => new ApiError(code, message, { status: 409 })
const unheard = () => [refusal('network'), refusal('network')] // neither the message nor the same again was answered
const accepted = { turn: { id: 'turn-1', ordinal: 1 }, cursor: 1 }
const submitted = frame(0, turn(1, { state: 'submitted' }), said(1, 'hello'))
const failed = turn(1, { state: 'failed', error: { code: 'codex_unavailable', message: 'Codex ended.' } })

async function sending(text, ...answers) {
  const opened = await enter([payload(), ...answers])
  opened.room.write(text)
  await opened.room.send()
  return opened
}

test('opening asks for the remembered room and remembers the one it got', async () => {
  const held = storage()
  held.setItem(SESSION_KEY, 'session-old')
  const { calls } = await enter([payload()], { held })
  assert.deepEqual(calls, [['open', 'session-old']])
  assert.equal(held.getItem(SESSION_KEY), 'session-1')
})

test('a room that was asked for early is entered as it comes, and asked for again only after it failed', async () => {
  const { room, calls } = await enter([payload(), payload()])
  calls.length = 0
  await room.startFrom(Promise.resolve({ ...payload(), sessionId: 'session-early' }))
  assert.deepEqual(calls, [])
  assert.equal(room.phase.value, 'open')
  await room.startFrom(Promise.reject(refusal('runnerd_unavailable')))
  assert.equal(room.phase.value, 'failed')
  await room.retry()
  assert.deepEqual(calls, [['open', 'session-early']])
  assert.equal(room.phase.value, 'open')
})

const stranger = () => refusal('unknown_session', 'Unknown.')

test('a remembered room that is no longer this browser’s gives way to a fresh one', async () => {
  const held = storage()
  held.setItem(SESSION_KEY, 'session-lost')
  const { room, calls } = await enter([stranger(), payload()], { held })
  assert.deepEqual(calls, [['open', 'session-lost'], ['open']])
  assert.equal(room.phase.value, 'open')
  assert.equal(held.getItem(SESSION_KEY), 'session-1')
})

test('a lost room that was asked for early gives way to a fresh one', async () => {
  const { room, calls } = await enter([payload(), payload({ sessionId: 'session-2' })])
  calls.length = 0
  await room.startFrom(Promise.reject(stranger()))
  assert.deepEqual(calls, [['open']])
  assert.equal(room.store.head.value.sessionId, 'session-2')
})

test('new chat and reset lead out of a room that is no longer this browser’s', async () => {
  for (const act of ['newChat', 'reset']) {
    const { room, calls } = await enter([payload(), stranger(), payload({ sessionId: 'session-2' })])
    await room[act]()
    assert.deepEqual(calls.slice(1), [[act, 'session-1'], ['newChat']])
    assert.equal(room.store.head.value.sessionId, 'session-2')
    assert.equal(room.phase.value, 'open')
  }
})

test('a room that cannot be opened shows its reason and nothing of a room', async () => {
  const { room, streams } = await enter([refusal('codex_login_required', 'Codex has no login.')])
  assert.equal(room.phase.value, 'failed')
  assert.equal(room.failure.value.title, 'Codex is not logged in')
  assert.equal(room.store.head.value, null)
  assert.deepEqual(streams, [])
})

test('a message is on its way at once, and arrives once', async () => {
  const { room, feed } = await enter([payload(), accepted])
  room.write('hello')
  const sent = room.send()
  assert.equal(room.pending.value.text, 'hello')
  assert.equal(room.composerState.value, 'streaming')
  assert.equal(room.draft.value, '')
  await sent
  assert.equal(room.pending.value.cursor, 1)
  feed(submitted)
  assert.equal(room.pending.value, null)
  assert.equal(room.composerState.value, 'streaming')
})

test('a message that is refused comes back with the reason, and is not sent again', async () => {
  const { room, calls, held } = await sending('hello', refusal('turn_limit', 'This chat used its turns.'))
  assert.equal(room.draft.value, 'hello')
  assert.equal(room.returned.value, 'refused')
  assert.equal(room.problem.value.code, 'turn_limit')
  assert.equal(room.composerState.value, 'ready')
  assert.equal(held.getItem(`${DRAFT_PREFIX}session-1`), 'hello')
  assert.equal(calls.filter(([name]) => name === 'send').length, 1)
})

test('a message whose turn fails comes back to the tab that sent it, before what was typed since', async () => {
  const { room, feed } = await sending('hello', accepted)
  feed(submitted)
  room.write('and then')
  feed(frame(1, failed))
  assert.equal(room.draft.value, 'hello\n\nand then')
  assert.equal(room.returned.value, 'failed')
})

test('a turn that failed before its number was known gives its message back too', async () => {
  const { room, feed } = await enter([payload(), accepted])
  room.write('hello')
  const sent = room.send()
  feed(submitted, frame(1, failed))
  await sent
  assert.equal(room.draft.value, 'hello')
  assert.equal(room.pending.value, null)
})

test('another tab gets nothing back, and a turn that ends well gives nothing back', async () => {
  const other = await enter()
  other.feed(submitted, frame(1, failed))
  assert.equal(other.room.draft.value, '')
  const { room, feed } = await sending('hello', accepted)
  feed(submitted, frame(1, turn(1, { state: 'completed' })))
  assert.equal(room.draft.value, '')
})

test('a message that was never confirmed and arrived all the same leaves the composer again', async () => {
  const { room, feed } = await sending('hello', ...unheard())
  assert.equal(room.draft.value, 'hello')
  room.write('hello\n\nand then')
  feed(submitted)
  assert.equal(room.draft.value, 'and then')
  assert.equal(room.returned.value, '')
  assert.equal(room.problem.value, null)
  feed(frame(1, failed))
  assert.equal(room.draft.value, 'hello\n\nand then', 'its turn failed: this tab had sent it')
})

const sends = (calls) => calls.filter(([name]) => name === 'send').map(([, , ...message]) => message)

test('a message whose answer got lost is sent again under the same name, and that answer counts', async () => {
  const { room, calls } = await sending('hello', refusal('network'), accepted)
  assert.deepEqual(sends(calls), [
    ['hello', 'm-1'],
    ['hello', 'm-1'],
  ])
  assert.equal(room.draft.value, '')
  assert.equal(room.pending.value.cursor, 1)
  assert.equal(room.problem.value, null)
})

test('a message that came back unheard keeps its name as long as it is the same, and no longer', async () => {
  const same = await sending('hello', ...unheard(), accepted)
  await same.room.send()
  assert.deepEqual(sends(same.calls).at(-1), ['hello', 'm-1'])
  const edited = await sending('hello', ...unheard(), accepted)
  edited.room.write('hello, world')
  await edited.room.send()
  assert.deepEqual(sends(edited.calls).at(-1), ['hello, world', 'm-2'])
})

test('a message of a turn that failed is another message when it is sent again', async () => {
  const { room, calls, feed } = await sending('hello', accepted, { turn: { id: 'turn-2', ordinal: 2 }, cursor: 3 })
  feed(submitted, frame(1, failed))
  await room.send()
  assert.deepEqual(sends(calls), [
    ['hello', 'm-1'],
    ['hello', 'm-2'],
  ])
})

test('a message that arrived before its answer got lost is not given back at all', async () => {
  const { room, feed, answers } = await enter()
  let lose
  answers.push(new Promise((_, reject) => (lose = reject)))
  room.write('hello')
  const sent = room.send()
  feed(submitted)
  lose(refusal('timeout'))
  await sent
  assert.equal(room.draft.value, '')
  assert.equal(room.pending.value, null)
  assert.equal(room.problem.value, null)
})

test('a returned message stays when another one arrives, when it was refused, and when it was edited', async () => {
  const lost = await sending('hello', ...unheard())
  lost.feed(frame(0, turn(1, { state: 'submitted' }), said(1, 'from another tab')))
  assert.equal(lost.room.draft.value, 'hello')
  const refused = await sending('hello', refusal('turn_active'))
  refused.feed(submitted)
  assert.equal(refused.room.draft.value, 'hello')
  const edited = await sending('hello', ...unheard())
  edited.room.write('hello, world')
  edited.feed(submitted)
  assert.equal(edited.room.draft.value, 'hello, world')
})

test('nothing is sent that is blank, too large, or not the time for', async () => {
  const { room, calls, feed } = await enter()
  for (const text of ['', ' \n ', '\u200b', 'é'.repeat(4097)]) {
    room.write(text)
    await room.send()
  }
  room.write('fine')
  feed(submitted)
  await room.send()
  assert.deepEqual(
    calls.map(([name]) => name),
    ['open'],
  )
  assert.equal(room.draft.value, 'fine')
})

test('the draft outlives a refresh of its room, and moves along to a new chat', async () => {
  const held = storage()
  const first = await enter([payload()], { held })
  first.room.write('half a thought')
  const again = await enter([payload(), payload({ sessionId: 'session-2' })], { held })
  assert.equal(again.room.draft.value, 'half a thought')
  await again.room.newChat()
  assert.equal(again.room.draft.value, 'half a thought')
  assert.deepEqual(
    Object.keys(held).filter((key) => key.startsWith(DRAFT_PREFIX)),
    [`${DRAFT_PREFIX}session-2`],
  )
})

test('stop asks once and forgives a turn that had just ended', async () => {
  const { room, feed } = await enter([payload(), refusal('already_terminal')])
  feed(submitted)
  await room.stop()
  assert.equal(room.problem.value, null)
  assert.equal(room.stopping.value, true)
  feed(frame(1, turn(1, { state: 'interrupted', stoppedByUser: true })))
  assert.equal(room.stopping.value, false)
})

test('a lost line locks the composer from the second try on, says when it is back, and keeps the draft', async () => {
  const { room, streams } = await enter()
  room.write('kept')
  streams[0].onState('lost', 1)
  assert.equal(room.composerState.value, 'ready')
  streams[0].onState('lost', 2)
  assert.equal(room.composerState.value, 'reconnecting')
  streams[0].onState('open', 2)
  assert.equal(room.line.value, 'back')
  assert.equal(room.composerState.value, 'ready')
  assert.equal(room.draft.value, 'kept')
})

test('a gap that stays takes a fresh snapshot of the same room and follows from there', async () => {
  const snapshot = payload({
    cursor: 9,
    view: { ...payload().view, issue: { identifier: 'MCK-7', title: 'x', status: 'done' } },
  })
  const { room, streams } = await enter([payload(), snapshot])
  await streams[0].onGap()
  assert.equal(streams.length, 2)
  assert.equal(streams[0].closed, true)
  assert.equal(streams[1].cursor(), 9)
  assert.equal(room.store.head.value.view.issue.status, 'done')
})

test('a gap that cannot be closed is tried again by opening the same room, whatever was asked before', async () => {
  const { room, streams, calls } = await enter([
    payload(),
    payload({ sessionId: 'session-2' }),
    refusal('internal_error'),
    payload({ sessionId: 'session-2', cursor: 9 }),
  ])
  await room.reset()
  await streams[1].onGap()
  assert.equal(room.phase.value, 'failed')
  await room.retry()
  assert.deepEqual(calls.slice(-2), [
    ['open', 'session-2'],
    ['open', 'session-2'],
  ])
  assert.equal(room.phase.value, 'open')
  assert.equal(streams.at(-1).cursor(), 9)
})

test('a gap in a room that is no longer this browser’s is its end', async () => {
  const { room, streams } = await enter([payload(), stranger()])
  await streams[0].onGap()
  assert.deepEqual(room.over.value, { code: 'unknown_session' })
})

test('try again starts the agent anew in the same room', async () => {
  const gone = head({ connection: { state: 'closed', code: 'codex_unavailable', message: 'Codex ended.' } })
  const { room, feed, calls } = await enter([payload(), payload({ cursor: 2 })])
  feed(frame(0, gone))
  assert.equal(room.composerState.value, 'unavailable')
  room.write('or send again')
  assert.equal(room.maySend.value, true, 'a message starts the agent anew as well')
  await room.reconnect()
  assert.deepEqual(calls.at(-1), ['reconnect', 'session-1'])
  assert.equal(room.composerState.value, 'ready')
  assert.equal(room.busy.value, '')
})

test('try again that fails says so and can be pressed again', async () => {
  const { room } = await enter([payload(), refusal('codex_unavailable', 'Codex did not start.')])
  await room.reconnect()
  assert.equal(room.problem.value.text, 'Codex did not start.')
  assert.equal(room.busy.value, '')
})

test('a room closed elsewhere names why, stops following and offers the other room', async () => {
  const { room, feed, streams } = await enter()
  room.noticeOtherRoom('session-2')
  feed({ type: 'closed', code: 'new_chat', seq: 0 })
  assert.deepEqual(room.over.value, { code: 'new_chat' })
  assert.equal(room.otherRoom.value, 'session-2')
  assert.equal(room.composerState.value, 'disabled')
  assert.equal(streams[0].closed, true)
})

test('a room closed by our own new chat or reset is no news', async () => {
  for (const act of ['newChat', 'reset']) {
    const { room, feed } = await enter([payload(), payload({ sessionId: 'session-2' })])
    const acting = room[act]()
    feed(frame(0, head({ session: { closed: true, code: 'reset' } })), { type: 'closed', code: 'reset', seq: 1 })
    await acting
    assert.equal(room.over.value, null)
    assert.equal(room.said.value.assertive, '')
    assert.equal(room.problem.value, null)
    assert.equal(room.store.head.value.sessionId, 'session-2')
  }
})

test('a closed frame of any other code is a dropped line, not the end', async () => {
  const { room, feed } = await enter()
  feed({ type: 'closed', code: 'slow_follower', seq: 0 }, { type: 'closed', code: 'server_shutdown', seq: 0 })
  assert.equal(room.over.value, null)
})

test('a room the server no longer knows is over, whichever call finds out', async () => {
  for (const act of [(room) => room.stop(), (room) => room.reconnect(), (room) => room.answer('i-1', 'accepted', {})]) {
    const { room } = await enter([payload(), stranger()])
    await act(room)
    assert.deepEqual(room.over.value, { code: 'unknown_session' })
  }
  const { room } = await sending('hello', stranger())
  assert.deepEqual(room.over.value, { code: 'unknown_session' })
  assert.equal(room.draft.value, 'hello')
})

test('new chat out of a room that is gone does not name it', async () => {
  const { room, feed, calls } = await enter([payload(), payload({ sessionId: 'session-2' })])
  feed({ type: 'closed', code: 'room_yielded', seq: 0 })
  await room.newChat()
  assert.deepEqual(calls.at(-1), ['newChat', undefined])
})

test('what was said of one room is not said of the next', async () => {
  const { room, feed } = await enter([payload(), { ...payload(), sessionId: 'session-2' }])
  feed(submitted, frame(1, turn(1, { state: 'completed' })))
  assert.equal(room.said.value.polite, 'Codex finished.')
  await room.newChat()
  assert.equal(room.store.head.value.sessionId, 'session-2')
  assert.deepEqual([room.said.value.polite, room.said.value.assertive], ['', ''])
})

test('an answer goes out once, however often it is pressed, and is settled by the card', async () => {
  const { room, calls, feed } = await enter([payload(), {}])
  feed(frame(0, turn(1, { state: 'completed' }), card(1, 'i-1', 'approval')))
  assert.equal(room.composerState.value, 'waiting')
  await Promise.all([room.answer('i-1', 'approved', { note: '' }), room.answer('i-1', 'rejected', {})])
  assert.deepEqual(calls.slice(1), [
    ['answer', 'session-1', { interactionId: 'i-1', outcome: 'approved', result: { note: '' } }],
  ])
  assert.equal(room.answers.submitting.value.has('i-1'), true)
  feed(frame(1, card(1, 'i-1', 'approval', 'approved')))
  assert.equal(room.answers.submitting.value.has('i-1'), false)
  assert.equal(room.composerState.value, 'ready')
})

test('an answer that is refused says why on its card and can be given again', async () => {
  const { room, feed } = await enter([payload(), refusal('turn_active', 'Codex is working.'), {}])
  feed(frame(0, turn(1, { state: 'completed' }), card(1, 'i-1', 'approval')))
  await room.answer('i-1', 'approved', {})
  assert.equal(room.answers.problems.value['i-1'].text, 'Codex is working.')
  assert.equal(room.said.value.assertive, 'Codex is working.')
  await room.answer('i-1', 'approved', {})
  assert.deepEqual(room.answers.problems.value, {})
})

test('what an abandoned room still answers is dropped', async () => {
  let late
  const { room, answers } = await enter([payload()])
  answers.push(new Promise((resolve) => (late = resolve)), payload({ sessionId: 'session-2' }))
  room.write('hello')
  const sent = room.send()
  await room.newChat()
  late(accepted)
  await sent
  await settled()
  assert.equal(room.pending.value, null)
  assert.equal(room.store.head.value.sessionId, 'session-2')
})

test('a burst of frames is one story: every frame is folded even when nothing is drawn between', async () => {
  const { room, feed } = await enter()
  feed(
    ...frames(
      0,
      [turn(1, { state: 'submitted' }), said(1, 'hello')],
      turn(1, { state: 'running' }),
      turn(1, { state: 'completed' }),
    ),
  )
  assert.equal(room.store.turn('turn-1').facts.value.state, 'completed')
})

test('the turns that messages began are counted, and answers are not', async () => {
  const few = { ...payload(), limits: { maxTurns: 2, maxMessageBytes: 8192 } }
  const { room, feed } = await enter([few])
  assert.equal(room.turnsLeft.value, 2)
  feed(frame(0, turn(1, { state: 'completed' }), said(1, 'one')))
  feed(frame(1, turn(2, { state: 'completed' }))) // the agent goes on after an answer
  assert.equal(room.turnsLeft.value, 1)
  room.write('two')
  assert.equal(room.maySend.value, true)
  feed(frame(2, turn(3, { state: 'completed' }), said(3, 'two')))
  assert.equal(room.turnsLeft.value, 0)
  assert.equal(room.maySend.value, false)
  assert.equal(room.composerState.value, 'ready')
})

test('a message that the server never confirmed says that it may have arrived', async () => {
  const { room } = await sending('hello', ...unheard())
  assert.equal(room.returned.value, 'unheard')
})

test('a late refusal of a room that was left touches no card of the next one', async () => {
  const { room, answers } = await enter()
  let refuse
  answers.push(new Promise((_, reject) => (refuse = reject)), payload({ sessionId: 'session-2' }), new Promise(() => {}))
  const late = room.answer('interaction-0001', 'answered', {})
  await room.newChat()
  room.answer('interaction-0001', 'answered', {}) // a card of the same number in the new room
  refuse(refusal('turn_active'))
  await late
  assert.deepEqual(room.answers.problems.value, {})
  assert.deepEqual([...room.answers.submitting.value], ['interaction-0001'])
  assert.equal(room.said.value.assertive, '')
})

test('after a refused New chat it is asked for again, or the room is gone back to', async () => {
  const { room, calls, answers } = await enter([payload(), refusal('runnerd_unavailable'), payload({ sessionId: 'session-2' })])
  await room.newChat()
  assert.equal(room.phase.value, 'failed')
  assert.equal(room.mayGoBack.value, true)
  await room.retry()
  assert.deepEqual(calls.slice(1), [
    ['newChat', 'session-1'],
    ['newChat', 'session-1'],
  ])
  assert.equal(room.store.head.value.sessionId, 'session-2')
  answers.push(refusal('codex_unavailable'), payload({ sessionId: 'session-2' }))
  await room.reset()
  assert.equal(room.mayGoBack.value, true)
  await room.start()
  assert.deepEqual(calls.at(-1), ['open', 'session-2'])
  assert.equal(room.busy.value, '')
})

test('an open that failed is tried again, and there is no room to go back to', async () => {
  const { room, calls } = await enter([refusal('codex_login_required'), payload()])
  assert.equal(room.mayGoBack.value, false)
  await room.retry()
  assert.equal(calls.length, 2)
  assert.equal(room.phase.value, 'open')
})
