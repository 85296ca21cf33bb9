// storage.js: what this browser remembers: the room it was in, and half-written messages. Losing it must never matter,
// so every failure of the storage (private windows, full disks, policies) is ignored.
// @ts-check

export const SESSION_KEY = 'paperclip-runner.capability.cleanroom.session'

/** @param {Storage | null} storage */
export function createMemory(storage) {
  /** @template T @param {(held: Storage) => T} use @param {T} otherwise */
  const attempt = (use, otherwise) => {
    try {
      return storage ? use(storage) : otherwise
    } catch {
      return otherwise
    }
  }
  return {
    /** @param {string} key @returns {string} empty when there is none */
    read: (key) => attempt((held) => held.getItem(key) ?? '', ''),
    /** An empty value removes the key. @param {string} key @param {string} value */
    write: (key, value) => attempt((held) => (value ? held.setItem(key, value) : held.removeItem(key)), undefined),
    /** @param {string} prefix */
    keys: (prefix) =>
      attempt((held) => Object.keys(held).filter((key) => key.startsWith(prefix)), /** @type {string[]} */ ([])),
  }
}

/** @typedef {ReturnType<typeof createMemory>} Memory */

/** The browser's storage, or nothing where it may not be touched. @returns {Storage | null} */
export function browserStorage() {
  try {
    return globalThis.localStorage ?? null
  } catch {
    return null
  }
}
