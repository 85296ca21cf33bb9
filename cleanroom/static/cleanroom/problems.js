// problems.js: what a person reads when something is refused or missing: what happened, and what to do. Pure.
// @ts-check
import { ApiError } from './api.js'

/** @typedef {{ code: string, title: string, text: string, todo: string, reference: string }} Shown */

/** @type {Record<string, { title: string, todo: string }>} */
const UNAVAILABLE = {
  runnerd_unavailable: {
    title: 'runnerd could not start',
    todo: 'runnerd is the process that supervises Codex. Look at the server’s output for its reason, then try again.',
  },
  codex_unavailable: {
    title: 'Codex could not start',
    todo: 'Check that Codex is installed (`make demo` does that) or that `CODEX_BIN` names it, then try again.',
  },
  opening_busy: {
    title: 'Other rooms are being opened',
    todo: 'Wait a moment, then try again.',
  },
  codex_login_required: {
    title: 'Codex is not logged in',
    todo: 'Log in with `node_modules/.bin/codex login` in the project’s directory, then try again. Or stop the server, set `CAPABILITY_MODEL_URL` to a model of yours and start it again. `make demo` needs no account.',
  },
  network: {
    title: 'The server does not answer',
    todo: 'Check that it is still running, then try again.',
  },
  timeout: {
    title: 'The server took too long to answer',
    todo: 'It may be busy starting Codex. Wait a moment, then try again.',
  },
}
const OVER = new Set(['reset', 'new_chat', 'room_yielded', 'unknown_session'])
/** @type {Record<string, string>} */
const WHY_OVER = {
  reset: 'This chat was reset in another tab.',
  new_chat: 'A new chat was started in another tab, so this one is closed.',
  room_yielded: 'This room made way for a newer one. Only a few rooms may be open at a time, and the oldest yields.',
  unknown_session: 'This room does not exist any more.',
  server_shutdown: 'The server was stopped, and this room with it.',
}

/** @param {unknown} error @returns {Shown} */
export function problemOf(error) {
  if (!(error instanceof ApiError)) return bug(error)
  const known = UNAVAILABLE[error.code]
  return {
    code: error.code,
    title: known?.title ?? 'That did not work',
    text: error.message,
    todo: known?.todo ?? 'Try again; if it keeps failing, the server’s output says more.',
    reference: error.reference,
  }
}

/** @param {unknown} error @returns {Shown} */
function bug(error) {
  console.error(error)
  return {
    code: 'page_error',
    title: 'This page made a mistake',
    text: 'Something in this page went wrong.',
    todo: 'Reload the page.',
    reference: '',
  }
}

/** Whether a `closed` frame means that the room has ended; any other code is a line to be taken up again. */
export function isOver(/** @type {string | undefined} */ code) {
  return OVER.has(code ?? '')
}

/** @param {string} code */
export function whyOver(code) {
  return WHY_OVER[code] ?? 'This room was closed.'
}

/** What to do before `Try again` can help in an open room; mostly nothing. @param {string | null | undefined} code */
export function todoFor(code) {
  return code === 'codex_login_required' ? UNAVAILABLE[code].todo : ''
}
