// early.js: asks for the room while the rest of the page is still on its way. The page waits for an agent to start far
// longer than for its own modules, so the shell runs this one first, by itself.
// @ts-check
import { createApi } from './api.js'
import { browserStorage, createMemory, SESSION_KEY } from './storage.js'

const { api: base = '' } = /** @type {HTMLElement} */ (document.getElementById('app')).dataset

/** The answer to the first open of this page, or why there is none. */
export const opening = createApi({ base }).open(createMemory(browserStorage()).read(SESSION_KEY))
opening.catch(() => {}) // whoever awaits it says so
