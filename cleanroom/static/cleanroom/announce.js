// announce.js: what a screen reader is told, and no more: a turn started, it finished, something waits for you; failures
// at once. History is never announced: the first value only sets the scene. Pure.
// @ts-check
import { activeTurn, pendingCard } from './composer.js'
import { ROOM_CLOSED } from './format.js'

/** @typedef {import('./types.js').Session} Session */
/** @typedef {{ polite: string, assertive: string }} Announcement  either may be empty */

const SILENCE = Object.freeze({ polite: '', assertive: '' })
/** @type {Record<string, string>} */
const KINDS = {
  approval: 'an approval',
  questions: 'a question',
  confirmation: 'a confirmation',
  checkbox: 'a choice',
  suggest_tasks: 'a list of suggested tasks',
  item_verdicts: 'a list to judge',
}

/** What changed between two values of one room, in words. @param {Session} before @param {Session} after */
export function announcement(before, after) {
  if (before.sessionId !== after.sessionId || isSameScene(before.view, after.view)) return SILENCE
  const { polite, failed } = turns(before, after)
  const assertive = [failed, closed(before, after), failed ? '' : lost(before, after)]
  return { polite: spoken([...polite, waiting(before, after)]), assertive: spoken(assertive) }
}

/** Streamed text and finished tools change none of this. @param {any} before @param {any} after */
function isSameScene(before, after) {
  const heads = ['composer', 'connection', 'session']
  return heads.every((name) => before[name] === after[name]) && activeTurn(before)?.id === activeTurn(after)?.id
}

/** @param {Session} before @param {Session} after */
function turns(before, after) {
  const [held, now] = [activeTurn(before.view), activeTurn(after.view)]
  const ended = held && held.id !== now?.id ? after.view.turns.find(({ id }) => id === held.id) : null
  const polite = [ENDINGS[ended?.state ?? ''] ?? '', now && now.id !== held?.id ? 'Codex started working.' : '']
  const wentWrong = ended?.state === 'failed' && ended.error?.code !== ROOM_CLOSED
  const failed = wentWrong ? `The turn failed. ${ended?.error?.message ?? ''}` : ''
  return { polite, failed }
}

/** @type {Record<string, string>} */
const ENDINGS = { completed: 'Codex finished.', interrupted: 'Codex stopped.' }

/** @param {Session} before @param {Session} after */
function waiting(before, after) {
  const { pendingInteractionId: id } = after.view.composer
  if (!id || id === before.view.composer.pendingInteractionId) return ''
  const card = pendingCard(after.view)
  return `Waiting for you: ${KINDS[card.interactionKind] ?? 'a request'}, ${card.title}.`
}

/** @param {Session} before @param {Session} after */
function closed(before, after) {
  return after.view.session.closed && !before.view.session.closed ? 'This room was closed.' : ''
}

/** One cause is urgent once: a turn that failed of it has said it already. @param {Session} before @param {Session} after */
function lost(before, after) {
  const { connection, turns: all } = after.view
  if (connection.state !== 'closed' || before.view.connection.state === 'closed') return ''
  return all.at(-1)?.error?.code === connection.code ? '' : connection.message || 'The agent is not connected.'
}

/** @param {string[]} sentences */
function spoken(sentences) {
  return sentences.filter(Boolean).join(' ').trim()
}
