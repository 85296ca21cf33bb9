// rail.js: one line that says what the agent is doing right now, from the newest safe activity of a turn. Pure.
// Source: reference B section 2.7.
// @ts-check
import { words } from './format.js'

/** @typedef {import('./types.js').Turn} Turn */
/** @typedef {import('./types.js').Item} Item */

/** @type {Record<string, (item: Item) => string | null>} */
const SAYS = {
  tool_activity: (item) =>
    item.status === 'running'
      ? `Paperclip tool · ${item.operationId}`
      : `Paperclip tool completed · ${item.operationId}`,
  denial: (item) => `Paperclip tool denied · ${item.operationId}`,
  progress_activity: (item) => item.summary || item.label || words(item.activity),
  agent_message: (item) => (item.streaming ? 'Receiving the reply' : null),
}

/** @param {Turn | null} turn null while the turn is on its way to the server */
export function railText(turn) {
  if (!turn) return 'Sending your message to Codex'
  for (let index = turn.items.length - 1; index >= 0; index -= 1) {
    const text = SAYS[turn.items[index].kind]?.(turn.items[index])
    if (text) return text
  }
  return 'Waiting for Codex'
}
