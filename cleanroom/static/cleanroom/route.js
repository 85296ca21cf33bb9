// route.js: which surface the address asks for. There is one, `#/chat`, and it is always live: `mode`, `shot` and `at`
// are ignored on it, wherever they stand. Pure.
// @ts-check

export const CHAT = '#/chat'

/**
 * @param {{ hash: string, search?: string }} location
 * @returns {{ surface: 'chat' | null, mode: 'live', shot: null, at: null }} null: it leads nowhere
 */
export function parseRoute({ hash }) {
  const path = hash.replace(/^#/, '').split('?', 1)[0]
  const surface = /^\/chat\/?$/.test(path) ? 'chat' : null
  return { surface, mode: 'live', shot: null, at: null }
}
