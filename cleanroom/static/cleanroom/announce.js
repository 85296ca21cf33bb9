// announce.js: what a screen reader is told, and no more: a turn started, something waits for you, the turn finished;
// failures at once. History is never announced: the first value only sets the scene. Pure.
// @ts-check
import { activeTurn, pendingCard } from './composer.js'

/** @typedef {import('./types.js').Session} Session */
/** @typedef {{ text: string, assertive: boolean }} Announcement */

const KINDS = {
  approval: 'an approval',
  questions: 'a question',
  confirmation: 'a confirmation',
  checkbox: 'a choice',
  suggest_tasks: 'a list of suggested tasks',
  item_verdicts: 'a list to judge',
}

/** @param {Session | null} before @param {Session} after @returns {Announcement[]} */
export function announcements(before, after) {
  if (!before || before.sessionId !== after.sessionId || before.view === after.view) return []
  const said = [...started(before, after), ...ended(before, after), ...waiting(before, after), ...broken(before, after)]
  return said
}

/** @param {Session} before @param {Session} after @returns {Announcement[]} */
function started(before, after) {
  const turn = activeTurn(after.view)
  return turn && !find(before, turn.id) ? [polite('Codex started working.')] : []
}

/** @param {Session} before @param {Session} after @returns {Announcement[]} */
function ended(before, after) {
  const turn = activeTurn(before.view)
  const now = turn && find(after, turn.id)
  if (!now) return []
  if (now.state === 'failed') return [urgent(`The turn failed. ${now.error?.message ?? ''}`.trim())]
  if (now.state === 'interrupted') return [polite('Codex stopped.')]
  return now.state === 'completed' ? [polite('Codex finished.')] : []
}

/** @param {Session} before @param {Session} after @returns {Announcement[]} */
function waiting(before, after) {
  const card = pendingCard(after.view)
  if (!card || card.interactionId === pendingCard(before.view)?.interactionId) return []
  const kind = KINDS[/** @type {keyof typeof KINDS} */ (card.interactionKind)] ?? 'a request'
  return [polite(`Waiting for you: ${kind}, ${card.title}.`)]
}

/** @param {Session} before @param {Session} after @returns {Announcement[]} */
function broken(before, after) {
  const { connection, session } = after.view
  const closed = session?.closed && !before.view.session?.closed
  if (closed) return [urgent('This room was closed.')]
  const lost = connection?.state === 'closed' && before.view.connection?.state !== 'closed'
  if (!lost) return []
  const turnSaidIt = after.view.turns.at(-1)?.error?.code === connection.code // one cause is urgent once
  return [turnSaidIt ? polite('Try again is offered.') : urgent(connection.message || 'The agent is not connected.')]
}

/** @param {Session} session @param {string} id */
function find(session, id) {
  return session.view.turns.find((turn) => turn.id === id)
}

/** @param {string} text @returns {Announcement} */
function polite(text) {
  return { text, assertive: false }
}

/** @param {string} text @returns {Announcement} */
function urgent(text) {
  return { text, assertive: true }
}
