// api.js: the seven routes of the session API, one function each. Knows HTTP; knows nothing of the page.
// @ts-check

export const TIMEOUT_MS = 30_000 // an open may take ten seconds by itself

/** A call that was answered with a refusal, or not answered at all (`network`, `timeout`). */
export class ApiError extends Error {
  /** @param {string} code @param {string} message @param {{ status?: number, reference?: string }} [more] */
  constructor(code, message, { status = 0, reference = '' } = {}) {
    super(message)
    this.code = code
    this.status = status
    this.reference = reference
  }
}

/** @param {{ base: string, fetch?: typeof globalThis.fetch, timeoutMs?: number }} options `base` ends in a slash */
export function createApi({ base, fetch = globalThis.fetch.bind(globalThis), timeoutMs = TIMEOUT_MS }) {
  /** @param {string} path @param {object} [body] */
  const call = (path, body) => answerOf(() => fetch(base + path, request(body, timeoutMs)))
  return {
    /** What `early.js` asked for, read as `open` reads its own. @param {Promise<Response>} early */
    opened: (early) => answerOf(() => early),
    /** @param {string} [sessionId] */
    open: (sessionId) => call(`cleanroom/session${sessionId ? `?sessionId=${encodeURIComponent(sessionId)}` : ''}`),
    /** @param {string} [sessionId] */
    newChat: (sessionId) => call('cleanroom/session', sessionId ? { sessionId } : {}),
    /**
     * @param {string} sessionId @param {string} message
     * @param {string} clientMessageId  the same for the same message: it is taken once, however often it is sent
     */
    send: (sessionId, message, clientMessageId) => call('message', { sessionId, message, clientMessageId }),
    /** @param {string} sessionId */
    interrupt: (sessionId) => call('interrupt', { sessionId }),
    /** @param {string} sessionId */
    reconnect: (sessionId) => call('reconnect', { sessionId }),
    /** @param {string} sessionId */
    reset: (sessionId) => call('reset', { sessionId }),
    /** @param {string} sessionId @param {{ interactionId: string, outcome: string, result: unknown }} answer */
    answer: (sessionId, answer) => call('interaction', { sessionId, ...answer }),
  }
}

/** @typedef {ReturnType<typeof createApi>} Api */

/** @param {() => Promise<Response>} ask @returns {Promise<any>} */
async function answerOf(ask) {
  const response = await reach(ask)
  const answer = await reach(() => response.json().catch(rejectUnlessAborted))
  if (response.ok && answer) return answer
  throw refusal(response.status, answer)
}

/** @param {object | undefined} body @param {number} timeoutMs @returns {RequestInit} */
function request(body, timeoutMs) {
  const common = { cache: /** @type {const} */ ('no-store'), signal: AbortSignal.timeout(timeoutMs) }
  if (!body) return { ...common, headers: { Accept: 'application/json' } }
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json' }
  return { ...common, method: 'POST', headers, body: JSON.stringify(body) }
}

/** @template T @param {() => Promise<T>} attempt */
async function reach(attempt) {
  try {
    return await attempt()
  } catch (error) {
    const timedOut = error instanceof DOMException && error.name === 'TimeoutError'
    if (timedOut) throw new ApiError('timeout', 'The server did not answer in time.')
    throw new ApiError('network', 'The server could not be reached.')
  }
}

/** An answer that is no JSON counts as no answer; a connection that broke half-way is still an error. */
function rejectUnlessAborted(/** @type {unknown} */ error) {
  if (error instanceof SyntaxError) return null
  throw error
}

/** @param {number} status @param {any} answer */
function refusal(status, answer) {
  const code = typeof answer?.error === 'string' ? answer.error : `http_${status}`
  const message = typeof answer?.message === 'string' ? answer.message : `The server answered ${status}.`
  return new ApiError(code, message, { status, reference: answer?.reference ?? '' })
}
