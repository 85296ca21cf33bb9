// sending.js: a person's message on its way: sent, sent again when nobody answered, and given back to the composer when
// it was refused or its turn failed. Whether it arrived may be in doubt until the stream shows it.
// @ts-check
import { batch, signal } from '@preact/signals'
import { ApiError } from './api.js'
import { withReturned, withoutReturned } from './draft.js'

/** @typedef {import('./types.js').Session} Session */
/** @typedef {import('./problems.js').Shown} Shown */
/**
 * @typedef {object} Pending  a message on its way
 * @property {string} text
 * @property {number} at  when it was sent, in milliseconds
 * @property {number} ordinal  of the newest turn at that time
 * @property {number | null} cursor  the event that holds it, once the server has said so
 */
/**
 * @typedef {object} Named  a message as it is sent, and sent again
 * @property {string} text
 * @property {string} name
 * @property {number} ordinal  of the newest turn when it was first sent
 */
/** @typedef {'' | 'failed' | 'refused' | 'unheard'} Returned  `failed`: its turn did; `unheard`: it may have arrived */
/**
 * @typedef {object} Desk  what sending needs of the room
 * @property {import('./api.js').Api} api
 * @property {() => Session} session  as it is now
 * @property {import('@preact/signals').Signal<string>} draft
 * @property {(text: string) => void} write  changes the draft and keeps it
 * @property {() => void} keep  keeps the draft as it is
 * @property {import('@preact/signals').Signal<Shown | null>} problem
 * @property {(act: (isMine: () => boolean) => Promise<unknown>, undo: (shown: Shown) => void) => Promise<void>} acting
 * @property {() => number} now
 * @property {() => string} nameMessage  gives each composed message a name of its own
 */

const UNHEARD = new Set(['network', 'timeout']) // the server may have taken what it never confirmed

/** @param {Desk} desk */
export function createSending({ api, session, draft, write, keep, problem, acting, now, nameMessage }) {
  const pending = signal(/** @type {Pending | null} */ (null))
  const returned = signal(/** @type {Returned} */ ('')) // a message stands in the composer again, and why
  /** @type {{ turnId: string, text: string } | null} */ let lastSent = null
  /** @type {Named | null} */ let doubt = null // given back, but it may have arrived

  async function send() {
    const text = draft.peek()
    const newest = Math.max(0, ...session().view.turns.map((turn) => turn.ordinal))
    const message = doubt?.text === text ? doubt : { text, name: nameMessage(), ordinal: newest }
    doubt = null
    batch(() => {
      pending.value = { text, at: now(), ordinal: message.ordinal, cursor: null }
      draft.value = '' // kept in the memory until the server has the message
      returned.value = ''
    })
    await acting(
      async (isMine) => {
        const again = (/** @type {unknown} */ error) => {
          if (isMine() && isUnheard(error)) return post(message, isMine)
          throw error
        }
        const { turn, cursor } = await post(message, isMine).catch(again)
        if (isMine()) sent({ turnId: turn.id, text, cursor })
      },
      ({ code }) => {
        giveBack(text, UNHEARD.has(code) ? 'unheard' : 'refused')
        if (UNHEARD.has(code)) doubt = message
      },
    )
  }

  /**
   * Send a message; the stream may say that it arrived, where the answer does not.
   *
   * @param {Named} message @param {() => boolean} isMine
   */
  async function post(message, isMine) {
    try {
      return await api.send(session().sessionId, message.text, message.name)
    } catch (error) {
      const begun = isMine() && isUnheard(error) && arrived(message)
      if (!begun) throw error
      return { turn: begun, cursor: session().cursor }
    }
  }

  /** @param {{ turnId: string, text: string, cursor: number }} message */
  function sent({ turnId, text, cursor }) {
    lastSent = { turnId, text }
    keep()
    const held = pending.peek()
    pending.value = held && { ...held, cursor }
    settlePending()
    if (session().view.turns.some(({ id, state }) => id === turnId && state === 'failed')) turnFailed(turnId)
  }

  /** The message of a turn that failed stands in the composer again. @param {string} turnId */
  function turnFailed(turnId) {
    if (lastSent?.turnId === turnId) giveBack(lastSent.text, 'failed')
  }

  /** @param {string} text @param {Returned} why */
  function giveBack(text, why) {
    batch(() => {
      pending.value = null
      returned.value = why
      write(withReturned(draft.peek(), text))
    })
  }

  /** The stream has shown more. */
  function moved() {
    settleDoubt()
    settlePending()
  }

  /** A message that was given back for want of an answer had arrived after all. */
  function settleDoubt() {
    const turn = doubt && arrived(doubt)
    if (!doubt || !turn) return
    const { text } = doubt
    doubt = null
    if (turn.state === 'failed') return // it would come back at once
    lastSent = { turnId: turn.id, text }
    batch(() => {
      write(withoutReturned(draft.peek(), text))
      returned.value = ''
      problem.value = null
    })
  }

  /** The turn that a message began, once the stream has shown it. @param {{ text: string, ordinal: number }} message */
  function arrived({ text, ordinal }) {
    return session().view.turns.find((turn) => turn.ordinal > ordinal && turn.items.some((item) => isSaid(item, text)))
  }

  function settlePending() {
    const held = pending.peek()
    if (held && held.cursor !== null && session().cursor >= held.cursor) pending.value = null
  }

  /** Another room is entered: what was on its way was another room's. */
  function forget() {
    lastSent = doubt = null
    pending.value = null
    returned.value = ''
  }

  return { pending, returned, send, moved, turnFailed, forget }
}

/** @param {import('./types.js').Item} item @param {string} text */
function isSaid({ kind, body }, text) {
  return kind === 'user_message' && body === text
}

/** @param {unknown} error */
function isUnheard(error) {
  return error instanceof ApiError && UNHEARD.has(error.code)
}
