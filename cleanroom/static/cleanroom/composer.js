// composer.js: what a person may do next, derived from the folded view. Its twin on the server passes the same vectors
// (tests/vectors/composer.json). Pure: knows no clock, no request and no limit.
// @ts-check

/** @typedef {import('./types.js').Composer} Composer */

const ACTIVE_TURN = new Set(['submitted', 'running'])
/** @type {Record<string, string>} */
const FINISHED_ISSUE = { done: 'This issue is done.', cancelled: 'This issue is cancelled.' }
/** @type {Record<string, string>} */
const CLOSED_REASON = {
  reset: 'This chat was reset.',
  new_chat: 'A new chat took the place of this one.',
  room_yielded: 'This room made way for a newer one.',
  server_shutdown: 'The server was stopped.',
}

/** The first matching rule wins. @param {any} view @returns {Composer} */
export function composerOf(view) {
  const { session, connection } = view
  if (session.closed) {
    const reason = CLOSED_REASON[session.code] ?? 'This chat is closed.'
    return composer('disabled', 'Start a New chat to go on.', { reason })
  }
  if (connection.state === 'closed') {
    const reason = connection.message || 'The agent is not available.'
    return composer('unavailable', 'Try again starts the agent anew; nothing is lost.', { reason })
  }
  if (connection.state === 'reconnecting') return composer('reconnecting', 'Reconnecting to the agent…')
  if (activeTurn(view)) return composer('streaming', 'Codex is working. Stop ends this turn.')
  const pending = pendingCard(view)
  if (pending) {
    return composer('waiting', 'Codex waits for your answer on the card above.', {
      pendingInteractionId: pending.interactionId,
    })
  }
  const finished = FINISHED_ISSUE[view.issue.status]
  if (finished) return composer('ready', `${finished} Ask on, or start a New chat.`)
  return composer('ready', 'Enter sends. Shift+Enter starts a new line.')
}

/** Whether the issue is over, so that a new chat is the natural next step. @param {any} view */
export function isFinished(view) {
  return view.issue.status in FINISHED_ISSUE
}

/** The turn that is under way, or null. @param {any} view @returns {import('./types.js').Turn | null} */
export function activeTurn(view) {
  return view.turns.findLast((/** @type {any} */ turn) => ACTIVE_TURN.has(turn.state)) ?? null
}

/** The oldest card that still waits for a person, or null. @param {any} view @returns {any} */
export function pendingCard(view) {
  for (const turn of view.turns) {
    for (const item of turn.items) if (item.kind === 'interaction' && item.state === 'pending') return item
  }
  return null
}

/** Whether a message would withdraw a question that still waits; an approval outlives it. @param {any} view */
export function messageWithdraws(view) {
  const asks = (/** @type {any} */ item) =>
    item.kind === 'interaction' && item.state === 'pending' && item.interactionKind !== 'approval'
  return view.turns.some((/** @type {any} */ turn) => turn.items.some(asks))
}

/** @param {string} state @param {string} helper @param {Partial<Composer>} [more] @returns {Composer} */
function composer(state, helper, more = {}) {
  return { state, helper, reason: null, pendingInteractionId: null, ...more }
}
