// draft.js: the text a person has not sent yet, kept per session over a refresh. Pure but for the memory it is given.
// @ts-check

export const DRAFT_PREFIX = 'paperclip-runner.capability.cleanroom.draft.'

/** @param {import('./storage.js').Memory} memory */
export function createDrafts(memory) {
  return {
    /** @param {string} sessionId */
    load: (sessionId) => memory.read(DRAFT_PREFIX + sessionId),
    /** @param {string} sessionId @param {string} text */
    save: (sessionId, text) => memory.write(DRAFT_PREFIX + sessionId, text),
    /** Forget the drafts of every other room: they can never be sent. @param {string} sessionId */
    prune: (sessionId) => {
      for (const key of memory.keys(DRAFT_PREFIX)) if (key !== DRAFT_PREFIX + sessionId) memory.write(key, '')
    },
  }
}

/**
 * Put a message that was not delivered back into the composer, without losing what was typed since.
 * @param {string} draft @param {string} returned
 */
export function withReturned(draft, returned) {
  if (!draft.trim() || draft === returned) return returned
  return `${returned}\n\n${draft}`
}
