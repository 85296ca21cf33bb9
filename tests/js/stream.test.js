import assert from 'node:assert/strict'
import test, { beforeEach, mock } from 'node:test'
import { StreamGap } from '../../cleanroom/static/cleanroom/session_state.js'
import { backoff, openStream } from '../../cleanroom/static/cleanroom/stream.js'

/** A socket under the test's hand, with the four handlers a browser's has. */
class Socket {
  static made = []
  constructor(url) {
    this.url = url
    this.closed = false
    Socket.made.push(this)
  }
  close() {
    this.closed = true
  }
}
const newest = () => Socket.made.at(-1)

function follow({ cursor = () => 0, onFrame = () => {} } = {}) {
  const log = []
  const stream = openStream({
    url: (after) => `ws://room?after=${after}`,
    cursor,
    onFrame,
    onState: (state, attempt) => log.push(attempt ? `${state} ${attempt}` : state),
    onGap: () => log.push('gap'),
    onGone: (code) => log.push(`gone ${code}`),
    Socket,
    random: () => 1,
    now: () => Date.now(),
  })
  return { stream, log }
}

beforeEach(() => {
  mock.timers.reset()
  mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  Socket.made = []
})

test('a dropped line is taken up again from the newest event held', () => {
  let held = 3
  const { log } = follow({ cursor: () => held })
  assert.equal(newest().url, 'ws://room?after=3')
  newest().onopen()
  held = 9
  newest().onclose({ code: 1006 })
  assert.equal(Socket.made.length, 1)
  mock.timers.tick(400)
  assert.equal(newest().url, 'ws://room?after=9')
  assert.deepEqual(log, ['open', 'lost 1'])
})

test('the wait doubles up to fifteen seconds, with half of it left to chance', () => {
  assert.deepEqual(
    [0, 1, 2, 10].map((attempt) => backoff(attempt, 1)),
    [400, 800, 1600, 15_000],
  )
  assert.deepEqual(
    [0, 1, 2, 10].map((attempt) => backoff(attempt, 0)),
    [200, 400, 800, 7_500],
  )
})

test('a line that opens and drops at once does not begin with the shortest wait again', () => {
  follow()
  for (let round = 0; round < 3; round += 1) {
    newest().onopen()
    newest().onclose({ code: 1006 })
    mock.timers.tick(backoff(round, 1))
  }
  assert.equal(Socket.made.length, 4)
  newest().onopen()
  mock.timers.tick(3_000)
  newest().onclose({ code: 1006 })
  mock.timers.tick(400)
  assert.equal(Socket.made.length, 5, 'a line that held starts over')
})

test('a silent line is dropped and taken up again; any message, a heartbeat too, keeps it', () => {
  follow()
  newest().onopen()
  mock.timers.tick(39_000)
  newest().onmessage({ data: '{"type":"heartbeat","seq":0}' })
  mock.timers.tick(39_000)
  assert.equal(newest().closed, false)
  mock.timers.tick(1_000)
  assert.equal(Socket.made[0].closed, true)
  mock.timers.tick(400)
  assert.equal(Socket.made.length, 2)
})

test('a gap subscribes again at once, and a gap after that asks for a snapshot', () => {
  const { log } = follow({
    onFrame: () => {
      throw new StreamGap(1, 5)
    },
  })
  newest().onmessage({ data: '{"type":"frame"}' })
  assert.equal(Socket.made.length, 2)
  assert.equal(Socket.made[0].closed, true)
  newest().onmessage({ data: '{"type":"frame"}' })
  assert.deepEqual(log, ['gap'])
  assert.equal(Socket.made.length, 2)
})

test('what an abandoned socket still says is not heard', () => {
  const frames = []
  const { stream } = follow({ onFrame: (frame) => frames.push(frame) })
  const first = newest()
  first.onclose({ code: 1006 })
  mock.timers.tick(400)
  first.onmessage({ data: '{"type":"frame"}' })
  first.onclose({ code: 1006 })
  stream.close()
  newest().onmessage({ data: '{"type":"frame"}' })
  assert.deepEqual(frames, [])
  mock.timers.tick(60_000)
  assert.equal(Socket.made.length, 2)
})

test('a room that does not exist ends the stream instead of asking for ever', () => {
  const { log } = follow()
  newest().onclose({ code: 4404 })
  mock.timers.tick(60_000)
  assert.deepEqual(log, ['gone unknown_session'])
  assert.equal(Socket.made.length, 1)
})

test('a cursor the server does not have asks for a snapshot', () => {
  const { log } = follow()
  newest().onclose({ code: 4400 })
  mock.timers.tick(60_000)
  assert.deepEqual(log, ['gap'])
  assert.equal(Socket.made.length, 1)
})

test('a person who asks does not wait', () => {
  const { stream } = follow()
  stream.retryNow()
  assert.equal(Socket.made.length, 1, 'a line that is up stays')
  newest().onclose({ code: 1006 })
  stream.retryNow()
  assert.equal(Socket.made.length, 2)
})
