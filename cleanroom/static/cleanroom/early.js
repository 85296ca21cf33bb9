// early.js: asks for the room before anything else of the page is there: the page waits for an agent to start far longer
// than for its own modules. The shell carries it in its head, as a plain script, so that it is no file to wait for.
// @ts-check
{
  const { api = '' } = /** @type {HTMLScriptElement} */ (document.currentScript).dataset
  const room = remembered('paperclip-runner.capability.cleanroom.session')
  const query = room ? `?sessionId=${encodeURIComponent(room)}` : ''
  const answer = fetch(`${api}cleanroom/session${query}`, {
    cache: 'no-store',
    headers: { Accept: 'application/json' },
    signal: AbortSignal.timeout(30_000),
  })
  answer.catch(() => {}) // whoever awaits it says so
  Object.assign(globalThis, { earlyAnswer: answer })

  /** @param {string} key */
  function remembered(key) {
    try {
      return globalThis.localStorage?.getItem(key)
    } catch {
      return null // the storage may not be touched here
    }
  }
}
