// room.js: one person in one clean room: opens it, follows it, and does what the buttons ask. Everything drawn is a
// signal here or in the store; the address of the server, its sockets and the clock are handed in.
// @ts-check
import { batch, computed, signal } from '@preact/signals'
import { announcements } from './announce.js'
import { ApiError } from './api.js'
import { isBlank, utf8Bytes } from './bytes.js'
import { activeTurn } from './composer.js'
import { withReturned } from './draft.js'
import { isOver, isUnavailable, problemOf } from './problems.js'
import { applyFrame, fromPayload } from './session_state.js'
import { SESSION_KEY } from './storage.js'
import { createStore } from './store.js'

/** @typedef {import('./types.js').Session} Session */
/** @typedef {import('./types.js').Frame} Frame */
/** @typedef {{ text: string, at: number, ordinal: number, cursor: number | null }} Pending a message on its way */

const RECONNECTED_MS = 3_000

/**
 * @param {{
 *   api: import('./api.js').Api, memory: import('./storage.js').Memory, drafts: ReturnType<import('./draft.js').createDrafts>,
 *   follow: (room: { sessionId: string } & import('./stream.js').Handlers) => import('./stream.js').Stream,
 *   schedule: (draw: () => void) => void, now?: () => number,
 * }} parts `schedule` calls `draw` at most once per animation frame
 */
export function createRoom({ api, memory, drafts, follow, schedule, now = Date.now }) {
  const store = createStore()
  const phase = signal(/** @type {'loading' | 'open' | 'failed'} */ ('loading'))
  const failure = signal(/** @type {import('./problems.js').Shown | null} */ (null)) // why nothing could be opened
  const draft = signal('')
  const pending = signal(/** @type {Pending | null} */ (null))
  const problem = signal(/** @type {import('./problems.js').Shown | null} */ (null)) // why the last action was refused
  const line = signal(/** @type {'open' | 'lost' | 'back'} */ ('open')) // the socket
  const busy = signal(/** @type {'' | 'new_chat' | 'reset' | 'reconnect'} */ (''))
  const stopping = signal('') // the turn that was asked to stop
  const gone = signal(/** @type {{ code: string } | null} */ (null)) // the room ended without its log saying so
  const otherRoom = signal('') // the room another tab moved to
  const submitting = signal(/** @type {Set<string>} */ (new Set())) // cards whose answer is on its way
  const cardProblems = signal(/** @type {Record<string, import('./problems.js').Shown>} */ ({}))
  const said = signal({ polite: '', assertive: '', count: 0 })
  const returned = signal(false) // a message that failed stands in the composer again

  /** @type {Session} */ let session
  /** @type {import('./stream.js').Stream | null} */ let stream = null
  /** @type {{ turnId: string, text: string } | null} */ let lastSent = null
  let generation = 0 // moves with every room; answers to an older one are dropped

  // ---------------------------------------------------------------- opening and following
  async function open(/** @type {string} */ sessionId) {
    await entering(() => api.open(sessionId))
  }

  /** @param {() => Promise<any>} call */
  async function entering(call) {
    const mine = (generation += 1)
    stream?.close()
    batch(() => {
      phase.value = 'loading'
      failure.value = null
    })
    try {
      const payload = await call()
      if (mine === generation) enter(payload)
    } catch (error) {
      if (mine === generation) fail(error)
    }
  }

  /** @param {any} payload */
  function enter(payload) {
    const kept = session && session.sessionId !== payload.sessionId && busy.peek() ? draft.peek() : ''
    memory.write(SESSION_KEY, payload.sessionId)
    drafts.prune(payload.sessionId)
    session = fromPayload(payload)
    batch(() => {
      store.publish(session)
      draft.value = drafts.load(session.sessionId) || kept // what was typed moves along with the person
      pending.value = problem.value = gone.value = failure.value = null
      stopping.value = otherRoom.value = busy.value = ''
      submitting.value = new Set()
      cardProblems.value = {}
      returned.value = false
      phase.value = 'open'
    })
    followRoom()
  }

  /** @param {unknown} error */
  function fail(error) {
    batch(() => {
      failure.value = problemOf(error)
      phase.value = 'failed'
      busy.value = ''
    })
  }

  function followRoom() {
    stream?.close()
    line.value = 'open'
    stream = follow({ sessionId: session.sessionId, cursor: () => session.cursor, onFrame, onState, onGap, onGone: leave })
  }

  /** @param {Frame} frame */
  function onFrame(frame) {
    if (frame.type === 'closed') {
      if (isOver(frame.code)) leave(frame.code ?? '')
      return
    }
    const before = session
    session = applyFrame(before, frame) // throws StreamGap: the stream takes the line up again
    if (session === before) return
    afterChange(before)
    schedule(() => store.publish(session))
  }

  /** @param {Session} before */
  function afterChange(before) {
    for (const { text, assertive } of announcements(before, session)) say(text, assertive)
    const turn = activeTurn(before.view)
    const ended = turn && session.view.turns.find(({ id, state }) => id === turn.id && state !== 'submitted' && state !== 'running')
    if (ended) turnEnded(ended)
    settlePending()
    forgetAnswered()
  }

  /** @param {import('./types.js').Turn} turn */
  function turnEnded(turn) {
    stopping.value = ''
    if (turn.state === 'failed' && lastSent?.turnId === turn.id) giveBack(lastSent.text)
    if (turn.state !== 'failed') returned.value = false
  }

  function settlePending() {
    const held = pending.peek()
    if (held && held.cursor !== null && session.cursor >= held.cursor) pending.value = null
  }

  function forgetAnswered() {
    if (!submitting.peek().size) return
    const waiting = new Set(session.view.turns.flatMap(({ items }) => items.filter(isPendingCard).map(({ interactionId }) => interactionId)))
    const left = [...submitting.peek()].filter((id) => waiting.has(id))
    if (left.length !== submitting.peek().size) submitting.value = new Set(left)
  }

  /** @param {'open' | 'lost'} state @param {number} attempt */
  function onState(state, attempt) {
    if (state === 'lost') {
      if (attempt > 1) line.value = 'lost' // one dropped line that comes back at once is nobody's concern
      return
    }
    if (line.peek() !== 'lost') return
    line.value = 'back'
    setTimeout(() => line.peek() === 'back' && (line.value = 'open'), RECONNECTED_MS)
  }

  /** What is held cannot be continued: take a fresh snapshot of the same room. */
  async function onGap() {
    const mine = generation
    try {
      const payload = await api.open(session.sessionId)
      if (mine === generation) resume(payload)
    } catch (error) {
      if (mine === generation) fail(error)
    }
  }

  /** @param {any} payload */
  function resume(payload) {
    if (payload.sessionId !== session.sessionId) {
      otherRoom.value = payload.sessionId // our room is over, and the server made a new one
      memory.write(SESSION_KEY, payload.sessionId)
      return leave('unknown_session')
    }
    const before = session
    session = fromPayload(payload)
    afterChange(before)
    store.publish(session)
    return followRoom()
  }

  /** @param {string} code */
  function leave(code) {
    stream?.close()
    if (busy.peek() === 'new_chat' || busy.peek() === 'reset') return // we asked for it
    gone.value = { code }
    say('This room was closed.', true)
  }

  // ---------------------------------------------------------------- what a person does
  async function send() {
    const text = draft.peek()
    if (!maySend.peek()) return
    const mine = generation
    batch(() => {
      const ordinal = Math.max(0, ...session.view.turns.map((turn) => turn.ordinal))
      pending.value = { text, at: now(), ordinal, cursor: null }
      draft.value = ''
      problem.value = null
      returned.value = false
    })
    try {
      const { turn, cursor } = await api.send(session.sessionId, text)
      if (mine !== generation) return
      lastSent = { turnId: turn.id, text }
      drafts.save(session.sessionId, draft.peek())
      pending.value = pending.peek() && { .../** @type {Pending} */ (pending.peek()), cursor }
      settlePending()
      const failed = session.view.turns.find(({ id, state }) => id === turn.id && state === 'failed')
      if (failed) turnEnded(failed) // it failed before we knew its name
    } catch (error) {
      if (mine === generation) refused(error, () => giveBack(text))
    }
  }

  /** @param {string} text */
  function giveBack(text) {
    batch(() => {
      pending.value = null
      returned.value = true
      write(withReturned(draft.peek(), text))
    })
  }

  async function stop() {
    const turn = activeTurn(session.view)
    stopping.value = turn?.id ?? 'submitted'
    await acting(async () => {
      await api.interrupt(session.sessionId).catch(unlessCode('already_terminal'))
    }, () => (stopping.value = ''))
  }

  /** Start the agent anew in the same room. */
  async function reconnect() {
    busy.value = 'reconnect'
    await acting(async (isMine) => {
      const payload = await api.reconnect(session.sessionId)
      if (!isMine()) return
      busy.value = ''
      resume(payload)
    }, () => (busy.value = ''))
  }

  async function newChat() {
    busy.value = 'new_chat'
    const held = gone.peek() ? undefined : session?.sessionId
    await entering(() => api.newChat(held))
  }

  async function reset() {
    busy.value = 'reset'
    await entering(() => api.reset(session.sessionId))
  }

  /** @param {string} interactionId @param {string} outcome @param {unknown} result */
  async function answer(interactionId, outcome, result) {
    const { [interactionId]: _, ...otherProblems } = cardProblems.peek()
    batch(() => {
      submitting.value = new Set(submitting.peek()).add(interactionId)
      cardProblems.value = otherProblems
    })
    const mine = generation
    try {
      await api.answer(session.sessionId, { interactionId, outcome, result })
    } catch (error) {
      if (mine !== generation) return
      if (error instanceof ApiError && error.code === 'unknown_session') leave(error.code)
      const left = new Set(submitting.peek())
      left.delete(interactionId)
      batch(() => {
        submitting.value = left
        cardProblems.value = { ...cardProblems.peek(), [interactionId]: problemOf(error) }
      })
      say(problemOf(error).text, true)
    }
  }

  /** @param {(isMine: () => boolean) => Promise<void>} act @param {() => void} onRefused */
  async function acting(act, onRefused) {
    const mine = generation
    problem.value = null
    try {
      await act(() => mine === generation)
    } catch (error) {
      if (mine === generation) refused(error, onRefused)
    }
  }

  /** @param {unknown} error @param {() => void} undo */
  function refused(error, undo) {
    undo()
    const shown = problemOf(error)
    if (shown.code === 'unknown_session') return leave(shown.code)
    problem.value = shown
    say(shown.text, true)
    return undefined
  }

  /** @param {string} text */
  function write(text) {
    draft.value = text
    drafts.save(session.sessionId, text)
  }

  /** @param {string} text @param {boolean} assertive */
  function say(text, assertive) {
    const { count } = said.peek()
    said.value = { polite: assertive ? '' : text, assertive: assertive ? text : '', count: count + 1 }
  }

  const over = computed(() => {
    const closed = store.head.value?.view.session
    return gone.value ?? (closed?.closed ? { code: closed.code ?? '' } : null)
  })
  const composerState = computed(() => {
    if (over.value) return 'disabled'
    if (busy.value === 'reconnect' || line.value === 'lost') return 'reconnecting'
    const state = store.head.value?.view.composer.state ?? 'disabled'
    return pending.value && (state === 'ready' || state === 'waiting') ? 'streaming' : state
  })
  const maySend = computed(() => {
    const open = composerState.value === 'ready' || composerState.value === 'waiting'
    const limit = store.head.value?.limits.maxMessageBytes ?? 0
    return open && !isBlank(draft.value) && utf8Bytes(draft.value) <= limit
  })

  return {
    store, phase, failure, draft, pending, problem, line, busy, stopping, otherRoom, submitting, cardProblems, said,
    returned, over, composerState, maySend,
    open, send, stop, reconnect, newChat, reset, answer, write,
    start: () => open(memory.read(SESSION_KEY)),
    retryLine: () => stream?.retryNow(),
    dismiss: () => (problem.value = null),
    /** Another tab wrote the room it is in. @param {string} sessionId */
    noticeOtherRoom: (sessionId) => {
      if (session && sessionId && sessionId !== session.sessionId) otherRoom.value = sessionId
    },
    mayRetryOpen: () => isUnavailable(failure.peek()?.code),
  }
}

/** @typedef {ReturnType<typeof createRoom>} Room */

/** @param {import('./types.js').Item} item */
function isPendingCard(item) {
  return item.kind === 'interaction' && item.state === 'pending'
}

/** @param {string} code */
function unlessCode(code) {
  return (/** @type {unknown} */ error) => {
    if (!(error instanceof ApiError) || error.code !== code) throw error
  }
}
