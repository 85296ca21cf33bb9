// draft.js: the text a person has not sent yet, kept per session over a refresh. Pure but for the memory it is given.
// @ts-check

export const DRAFT_PREFIX = 'paperclip-runner.capability.cleanroom.draft.'
const ORDER_KEY = 'paperclip-runner.capability.cleanroom.drafts' // session ids, the one written last first
const KEPT = 8 // rooms of other tabs may be alive; the drafts of older ones can hardly ever be sent

/** @param {import('./storage.js').Memory} memory */
export function createDrafts(memory) {
  const order = () => memory.read(ORDER_KEY).split(' ').filter(Boolean)

  /** @param {string} sessionId */
  function touch(sessionId) {
    const [newest, ...others] = order()
    if (newest === sessionId) return
    memory.write(ORDER_KEY, [sessionId, ...[newest, ...others].filter((id) => id && id !== sessionId)].join(' '))
  }

  return {
    /** @param {string} sessionId */
    load: (sessionId) => memory.read(DRAFT_PREFIX + sessionId),
    /** @param {string} sessionId @param {string} text */
    save: (sessionId, text) => {
      memory.write(DRAFT_PREFIX + sessionId, text)
      if (text) touch(sessionId)
    },
    /** Forget all but the newest drafts, and never the one of this room. @param {string} sessionId */
    prune: (sessionId) => {
      const others = order().filter((id) => id !== sessionId && memory.read(DRAFT_PREFIX + id))
      const kept = [sessionId, ...others].slice(0, KEPT)
      for (const key of memory.keys(DRAFT_PREFIX)) {
        if (!kept.includes(key.slice(DRAFT_PREFIX.length))) memory.write(key, '')
      }
      memory.write(ORDER_KEY, kept.filter((id) => memory.read(DRAFT_PREFIX + id)).join(' '))
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

/**
 * Take a message that was put back out again: it had arrived after all. A copy that was edited since stays.
 * @param {string} draft @param {string} returned
 */
export function withoutReturned(draft, returned) {
  if (draft === returned) return ''
  return draft.startsWith(`${returned}\n\n`) ? draft.slice(returned.length + 2) : draft
}

/**
 * Put suggested words into the composer without losing what was typed; asking for the same ones twice does nothing.
 * @param {string} draft @param {string} words
 */
export function withSuggested(draft, words) {
  if (draft.split('\n\n').includes(words)) return draft
  return draft.trim() ? `${draft.trimEnd()}\n\n${words}` : words
}
