// answers.js: cards whose answer is on its way, and why the last one was refused. Knows no drawing and no stream: the room
// tells it what became of its cards.
// @ts-check
import { batch, signal } from '@preact/signals'
import { problemOf } from './problems.js'

/** @typedef {import('./problems.js').Shown} Shown */

/** @param {{ post: (answer: { interactionId: string, outcome: string, result: unknown }) => Promise<unknown> }} parts */
export function createAnswers({ post }) {
  const submitting = signal(/** @type {ReadonlySet<string>} */ (new Set()))
  const problems = signal(/** @type {Readonly<Record<string, Shown>>} */ ({}))
  let generation = 0 // moves with every room: cards of each are numbered from one, so an older answer must touch none

  /** @param {string} interactionId */
  function done(interactionId) {
    submitting.value = new Set([...submitting.peek()].filter((id) => id !== interactionId))
  }

  return {
    submitting,
    problems,

    /**
     * Send an answer once; a second press while the first is on its way does nothing. Returns the refusal, if it was one.
     * @param {string} interactionId @param {string} outcome @param {unknown} result @returns {Promise<Shown | null>}
     */
    async send(interactionId, outcome, result) {
      if (submitting.peek().has(interactionId)) return null
      const mine = generation
      batch(() => {
        submitting.value = new Set([...submitting.peek(), interactionId])
        problems.value = Object.fromEntries(Object.entries(problems.peek()).filter(([id]) => id !== interactionId))
      })
      try {
        await post({ interactionId, outcome, result })
        return null
      } catch (error) {
        const shown = problemOf(error)
        if (mine !== generation) return null
        batch(() => {
          done(interactionId)
          problems.value = { ...problems.peek(), [interactionId]: shown }
        })
        return shown
      }
    },

    /** Cards that no longer wait need no more waiting for. @param {import('./types.js').Session} session */
    settle(session) {
      if (!submitting.peek().size) return
      const cards = session.view.turns.flatMap(({ items }) => items.filter(({ kind }) => kind === 'interaction'))
      for (const { interactionId, state } of cards) if (state !== 'pending') done(interactionId)
    },

    /** Another room: what an earlier one still answers is dropped. */
    clear() {
      generation += 1
      submitting.value = new Set()
      problems.value = {}
    },
  }
}
