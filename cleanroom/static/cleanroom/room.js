// room.js: one person in one clean room: opens it, follows it, and does what the buttons ask. Everything drawn is a
// signal here, in `sending`, in `answers` or in the store; the server's address, its sockets and the clock are handed in.
// @ts-check
import { batch, computed, signal } from '@preact/signals'
import { announcement } from './announce.js'
import { createAnswers } from './answers.js'
import { ApiError } from './api.js'
import { isBlank, utf8Bytes } from './bytes.js'
import { activeTurn } from './composer.js'
import { withSuggested } from './draft.js'
import { isOver, problemOf } from './problems.js'
import { createSending } from './sending.js'
import { applyFrame, fromPayload } from './session_state.js'
import { SESSION_KEY } from './storage.js'
import { createStore, isAsked } from './store.js'

/** @typedef {import('./types.js').Session} Session */
/** @typedef {import('./types.js').Frame} Frame */
/** @typedef {import('./problems.js').Shown} Shown */
/**
 * @typedef {object} Parts
 * @property {import('./api.js').Api} api
 * @property {import('./storage.js').Memory} memory
 * @property {ReturnType<typeof import('./draft.js').createDrafts>} drafts
 * @property {(room: { sessionId: string } & import('./stream.js').Handlers) => import('./stream.js').Stream} follow
 * @property {(draw: () => void) => void} schedule  calls `draw` at most once per animation frame
 * @property {() => number} [now]
 * @property {() => string} [nameMessage]  gives each composed message a name of its own
 */

const RECONNECTED_MS = 3_000 // source: reference B section 1.12
const TAKES_MESSAGES = new Set(['ready', 'waiting', 'unavailable']) // a message starts an agent that is gone anew

/** @param {Parts} parts */
export function createRoom(parts) {
  const { api, memory, drafts, follow, schedule, now = Date.now } = parts
  const { nameMessage = () => crypto.randomUUID() } = parts
  const store = createStore()
  const phase = signal(/** @type {'loading' | 'open' | 'failed'} */ ('loading'))
  const failure = signal(/** @type {Shown | null} */ (null)) // why nothing could be opened
  const draft = signal('')
  const problem = signal(/** @type {Shown | null} */ (null)) // why the last action was refused
  const line = signal(/** @type {'open' | 'lost' | 'back'} */ ('open')) // the way to the server
  const busy = signal(/** @type {'' | 'new_chat' | 'reset' | 'reconnect'} */ (''))
  const stopping = signal(false)
  const gone = signal(/** @type {{ code: string } | null} */ (null)) // the room ended, whether or not its log says so
  const otherRoom = signal('') // the room that another tab moved to
  const said = signal({ polite: '', assertive: '', count: 0 })
  const answers = createAnswers({ post: (answer) => api.answer(session.sessionId, answer) })
  const sending = createSending({
    api,
    session: () => session,
    draft,
    write,
    keep: () => drafts.save(session.sessionId, draft.peek()),
    problem,
    acting,
    now,
    nameMessage,
  })
  const { pending, returned } = sending

  /** @type {Session} */ let session
  /** @type {import('./stream.js').Stream | null} */ let stream = null
  let generation = 0 // moves with every room: what an older one still answers is dropped
  /** @type {{ call: () => Promise<any>, asked: '' | 'new_chat' | 'reset' | 'reconnect' }} */ let lastEntry
  const mayGoBack = signal(false) // what failed was leaving a room that is still there

  // ---------------------------------------------------------------- entering and leaving a room
  /** @param {() => Promise<any>} call */
  async function entering(call) {
    const mine = (generation += 1)
    lastEntry = { call, asked: busy.peek() }
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

  const open = () => openOf(memory.read(SESSION_KEY))

  /** @param {string} sessionId */
  const openOf = (sessionId) => orFresh(api.open(sessionId), () => api.open())

  /** Enter with what was asked for already; another try asks again. @param {Promise<any>} opening */
  async function startFrom(opening) {
    let next = () => opening
    await entering(() => {
      const call = next
      next = open
      return orFresh(call(), () => api.open())
    })
  }

  /** @param {any} payload */
  function enter(payload) {
    const left = session && session.sessionId !== payload.sessionId ? session.sessionId : ''
    const typed = left ? draft.peek() : '' // what was typed moves along with the person
    const own = drafts.load(payload.sessionId)
    if (typed && !own) drafts.save(left, '')
    session = fromPayload(payload)
    memory.write(SESSION_KEY, session.sessionId)
    drafts.prune(session.sessionId)
    batch(() => {
      store.publish(session)
      write(own || typed)
      answers.clear()
      said.value = { polite: '', assertive: '', count: said.peek().count + 1 } // what was said of another room
      sending.forget()
      problem.value = gone.value = failure.value = null
      stopping.value = false
      otherRoom.value = busy.value = ''
      phase.value = 'open'
    })
    followRoom()
  }

  /** @param {unknown} error */
  function fail(error) {
    batch(() => {
      failure.value = problemOf(error)
      phase.value = 'failed'
      mayGoBack.value = lastEntry.asked !== '' && !over.peek()
      busy.value = ''
    })
  }

  /** @param {string} code */
  function leave(code) {
    stream?.close()
    if (busy.peek() === 'new_chat' || busy.peek() === 'reset' || gone.peek()) return
    gone.value = { code }
    pending.value = null
    if (!session.view.session.closed) say({ assertive: 'This room was closed.' })
  }

  // ---------------------------------------------------------------- following it
  function followRoom() {
    stream?.close()
    line.value = 'open'
    stream = follow({
      sessionId: session.sessionId,
      cursor: () => session.cursor,
      onFrame,
      onState,
      onGap,
      onGone: leave,
    })
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
    changed(before)
    schedule(() => store.publish(session))
  }

  /** @param {Session} before */
  function changed(before) {
    say(announcement(before, session))
    sending.moved()
    const active = activeTurn(before.view)
    if (active && activeTurn(session.view)?.id !== active.id) turnEnded(active.id)
    answers.settle(session)
  }

  /** @param {string} turnId */
  function turnEnded(turnId) {
    stopping.value = false
    const turn = session.view.turns.find(({ id }) => id === turnId)
    if (turn?.state === 'failed') sending.turnFailed(turnId)
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
    const { sessionId } = session
    try {
      const payload = await api.open(sessionId)
      if (mine === generation) refresh(payload)
    } catch (error) {
      if (mine !== generation) return
      if (isUnknown(error)) return leave('unknown_session')
      lastEntry = { call: () => openOf(sessionId), asked: '' }
      fail(error)
    }
  }

  /** @param {any} payload */
  function refresh(payload) {
    if (payload.sessionId !== session.sessionId) {
      memory.write(SESSION_KEY, payload.sessionId)
      otherRoom.value = payload.sessionId // ours is over, and the server opened another
      return leave('unknown_session')
    }
    const before = session
    session = fromPayload(payload)
    changed(before)
    store.publish(session)
    return followRoom()
  }

  // ---------------------------------------------------------------- what a person does
  async function send() {
    if (maySend.peek()) await sending.send()
  }

  async function stop() {
    stopping.value = true
    await acting(
      () => api.interrupt(session.sessionId).catch(unlessCode('already_terminal')),
      () => (stopping.value = false),
    )
  }

  /** Start the agent anew in the same room. */
  async function reconnect() {
    busy.value = 'reconnect'
    await acting(
      async (isMine) => {
        const payload = await api.reconnect(session.sessionId)
        if (isMine()) refresh(payload)
      },
      () => {},
    )
    if (busy.peek() === 'reconnect') busy.value = ''
  }

  async function newChat() {
    busy.value = 'new_chat'
    const held = gone.peek() ? undefined : session?.sessionId
    await entering(() => orFresh(api.newChat(held), () => api.newChat()))
  }

  async function reset() {
    busy.value = 'reset'
    const { sessionId } = session
    await entering(() => orFresh(api.reset(sessionId), () => api.newChat()))
  }

  /** Do again what could not be done when no room could be entered. */
  async function retry() {
    busy.value = lastEntry.asked
    await entering(lastEntry.call)
  }

  /** Begin a message with these words, under what has been typed already. @param {string} words */
  function suggest(words) {
    write(withSuggested(draft.peek(), words))
  }

  /** @param {string} interactionId @param {string} outcome @param {unknown} result */
  async function answer(interactionId, outcome, result) {
    const mine = generation
    const refusal = await answers.send(interactionId, outcome, result)
    if (!refusal || mine !== generation) return
    if (refusal.code === 'unknown_session') leave(refusal.code)
    else say({ assertive: refusal.text })
  }

  /** @param {(isMine: () => boolean) => Promise<unknown>} act @param {(shown: Shown) => void} undo */
  async function acting(act, undo) {
    const mine = generation
    problem.value = null
    try {
      await act(() => mine === generation)
    } catch (error) {
      if (mine === generation) refused(problemOf(error), undo)
    }
  }

  /** @param {Shown} shown @param {(shown: Shown) => void} undo */
  function refused(shown, undo) {
    undo(shown)
    if (shown.code === 'unknown_session') return leave(shown.code)
    problem.value = shown
    return say({ assertive: shown.text })
  }

  /** @param {string} text */
  function write(text) {
    draft.value = text
    drafts.save(session.sessionId, text)
  }

  /** @param {{ polite?: string, assertive?: string }} words */
  function say({ polite = '', assertive = '' }) {
    if (polite || assertive) said.value = { polite, assertive, count: said.peek().count + 1 }
  }

  // ---------------------------------------------------------------- what follows from it
  const over = computed(() => {
    const closed = store.head.value?.view.session
    return gone.value ?? (closed?.closed ? { code: closed.code ?? '' } : null)
  })
  const composerState = computed(() => {
    if (over.value) return 'disabled'
    if (busy.value === 'reconnect' || line.value === 'lost') return 'reconnecting'
    const state = store.head.value?.view.composer.state ?? 'disabled'
    return pending.value && TAKES_MESSAGES.has(state) ? 'streaming' : state
  })
  const turnsLeft = computed(() => {
    const most = store.head.value?.limits.maxTurns ?? 0
    return Math.max(0, most - store.turnIds.value.filter((id) => isAsked(store.turn(id))).length)
  })
  const maySend = computed(() => {
    const open = TAKES_MESSAGES.has(composerState.value) && turnsLeft.value > 0
    const limit = store.head.value?.limits.maxMessageBytes ?? 0
    return open && !isBlank(draft.value) && utf8Bytes(draft.value) <= limit
  })

  return {
    store,
    phase,
    failure,
    draft,
    returned,
    pending,
    problem,
    line,
    busy,
    stopping,
    otherRoom,
    said,
    answers,
    over,
    composerState,
    turnsLeft,
    maySend,
    mayGoBack,
    send,
    stop,
    reconnect,
    newChat,
    reset,
    retry,
    suggest,
    answer,
    write,
    /** Enter the room this browser was in, or a new one. */
    start: () => entering(open),
    startFrom,
    open: (/** @type {string} */ sessionId) => entering(() => openOf(sessionId)),
    retryLine: () => stream?.retryNow(),
    dismiss: () => (problem.value = null),
    /** Another tab wrote down the room it is in. @param {string} sessionId */
    noticeOtherRoom(sessionId) {
      if (session && sessionId && sessionId !== session.sessionId) otherRoom.value = sessionId
    },
  }
}

/** @typedef {ReturnType<typeof createRoom>} Room */

/** @param {unknown} error */
function isUnknown(error) {
  return error instanceof ApiError && error.code === 'unknown_session'
}

/**
 * What is asked of a room that is no longer this browser's, as when its cookie is gone, is asked without naming one.
 *
 * @template T @param {Promise<T>} asked @param {() => Promise<T>} fresh
 */
async function orFresh(asked, fresh) {
  try {
    return await asked
  } catch (error) {
    if (isUnknown(error)) return fresh()
    throw error
  }
}

/** @param {string} code */
function unlessCode(code) {
  return (/** @type {unknown} */ error) => {
    if (!(error instanceof ApiError) || error.code !== code) throw error
  }
}
