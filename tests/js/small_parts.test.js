// Routes, drafts, words and the rail.
import assert from 'node:assert/strict'
import test from 'node:test'
import { createDrafts, withoutReturned, withReturned, withSuggested } from '../../cleanroom/static/cleanroom/draft.js'
import { duration, fileSize, turnFacts, visible, words } from '../../cleanroom/static/cleanroom/format.js'
import { railText } from '../../cleanroom/static/cleanroom/rail.js'
import { parseRoute } from '../../cleanroom/static/cleanroom/route.js'
import { createMemory } from '../../cleanroom/static/cleanroom/storage.js'
import { storage } from './support.js'

test('no address talks the chat into another mode, shot or place in time', () => {
  for (const hash of ['#/chat', '#/chat/', '#/chat?mode=fake&shot=replay-mode&at=7']) {
    assert.deepEqual(parseRoute({ hash, search: '?mode=replay&at=3' }), {
      surface: 'chat',
      mode: 'live',
      shot: null,
      at: null,
    })
  }
})

test('every other address leads nowhere, so that the page can go to the chat', () => {
  for (const hash of ['', '#', '#/', '#/issue/hb-baseline', '#/chatter', '#chat', '#/chat/more']) {
    assert.equal(parseRoute({ hash }).surface, null)
  }
})

test('a draft is kept per session, and only the newest eight are', () => {
  const held = storage()
  const drafts = createDrafts(createMemory(held))
  const keptOf = (count) => Array.from({ length: count }, (_, place) => drafts.load(`session-${place + 1}`)).join(' ')
  for (let place = 1; place <= 10; place += 1) drafts.save(`session-${place}`, `text-${place}`)
  drafts.save('session-2', 'newer')
  drafts.prune('session-10')
  assert.equal(keptOf(10), ' newer  text-4 text-5 text-6 text-7 text-8 text-9 text-10')
  drafts.prune('session-11')
  assert.equal(drafts.load('session-4'), '', 'the room one is in has a place')
  for (let place = 1; place <= 10; place += 1) drafts.save(`session-${place}`, '')
  drafts.prune('session-11')
  assert.deepEqual(Object.keys(held), [])
})

test('a storage that fails, or is not there, costs the memory and nothing else', () => {
  for (const memory of [createMemory(storage({ full: true })), createMemory(null)]) {
    const drafts = createDrafts(memory)
    drafts.save('session-1', 'text')
    drafts.prune('session-1')
    assert.equal(drafts.load('session-1'), '')
  }
})

test('a message that had arrived after all is taken out again, and nothing else is', () => {
  assert.equal(withoutReturned('first', 'first'), '')
  assert.equal(withoutReturned('first\n\nsecond', 'first'), 'second')
  assert.equal(withoutReturned('first, edited', 'first'), 'first, edited')
})

test('a message that comes back never costs what was typed since', () => {
  assert.equal(withReturned('', 'first'), 'first')
  assert.equal(withReturned('first', 'first'), 'first')
  assert.equal(withReturned('second', 'first'), 'first\n\nsecond')
})

test('durations and turn facts are short words', () => {
  assert.deepEqual([40, 400, 12_000, 59_700, 60_000, 125_000].map(duration), [
    '0.1 s',
    '0.4 s',
    '12 s',
    '1 min',
    '1 min',
    '2 min 5 s',
  ])
  const turn = { state: 'interrupted', durationMs: 12_000, toolCallCount: 2, stoppedByUser: true, items: [] }
  assert.deepEqual(turnFacts(turn), ['12 s', '2 tools', 'stopped by you'])
  assert.deepEqual(turnFacts({ ...turn, stoppedByUser: false, toolCallCount: 1 }), ['12 s', '1 tool', 'stopped'])
  assert.deepEqual(turnFacts({ state: 'failed', durationMs: null, toolCallCount: 0, items: [] }), ['failed'])
  const failed = { state: 'failed', durationMs: null, at: '2026-01-02T03:04:05.000Z', endedAt: '2026-01-02T03:04:08.000Z' }
  assert.deepEqual(turnFacts({ ...failed, toolCallCount: 0, items: [] }), ['3 s', 'failed'])
  assert.equal(words('in_progress'), 'In progress')
  assert.deepEqual([1, 21, 2048].map(fileSize), ['1 byte', '21 bytes', '2.0 KB'])
})

test('characters that hide or turn text around are drawn as escapes', () => {
  assert.equal(visible('echo safe \u202e;x/ekaf/ fr- mr\u202c'), 'echo safe \\u202e;x/ekaf/ fr- mr\\u202c')
  assert.equal(visible('ls\u200b -la\u2063'), 'ls\\u200b -la\\u2063')
  assert.equal(visible('ok\r\u001b[2K'), 'ok\\u000d\\u001b[2K')
  assert.equal(visible('plain\ttext\nstays, with ümlauts and 漢字'), 'plain\ttext\nstays, with ümlauts and 漢字')
})

test('the rail tells the newest safe activity', () => {
  const rail = (...items) => railText({ items })
  const tool = { kind: 'tool_activity', operationId: 'report_progress', status: 'running' }
  const prose = { kind: 'agent_message', body: 'Hello', streaming: true }
  assert.equal(railText(null), 'Sending your message to Codex')
  assert.equal(rail({ kind: 'user_message', body: 'hi' }), 'Waiting for Codex')
  assert.equal(rail(tool), 'Paperclip tool · report_progress')
  assert.equal(rail({ ...tool, status: 'ok' }), 'Paperclip tool completed · report_progress')
  assert.equal(rail(tool, prose), 'Receiving the reply')
  assert.equal(rail(tool, { ...prose, streaming: false }), 'Paperclip tool · report_progress')
  assert.equal(rail({ kind: 'progress_activity', activity: 'thinking', summary: '', label: 'Thinking' }), 'Thinking')
})

test('a suggestion never costs what was typed', () => {
  assert.equal(withSuggested('', 'Read this'), 'Read this')
  assert.equal(withSuggested('mine', 'Read this'), 'mine\n\nRead this')
  assert.equal(withSuggested('mine\n\nRead this', 'Read this'), 'mine\n\nRead this')
})
