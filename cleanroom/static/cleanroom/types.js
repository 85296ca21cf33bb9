// types.js: the shapes that travel between the server and this page, for the type checker only.
// @ts-check

/** @typedef {{ earlyAnswer: Promise<Response> }} Early  what `early.js` leaves in the window for `main.js` */
/** @typedef {{ section: string, recordId: string } | null} EvidenceRef */
/** @typedef {{ id: string, kind: string, at?: string } & Record<string, any>} Item */
/** @typedef {{ code: string, message: string }} Problem */
/**
 * @typedef {object} Turn
 * @property {string} id
 * @property {number} ordinal
 * @property {string} mode
 * @property {string} state  `submitted`, `running`, `completed`, `interrupted` or `failed`
 * @property {string | null} at
 * @property {string | null} endedAt
 * @property {number | null} durationMs
 * @property {boolean} stoppedByUser
 * @property {number} toolCallCount
 * @property {Problem | null} error
 * @property {Item[]} items
 */
/**
 * @typedef {object} Composer
 * @property {string} state  `ready`, `streaming`, `waiting`, `reconnecting`, `unavailable` or `disabled`
 * @property {string | null} helper
 * @property {string | null} reason
 * @property {string | null} pendingInteractionId
 */
/**
 * @typedef {object} View
 * @property {Record<string, any>} identity
 * @property {Record<string, any>} issue
 * @property {Turn[]} turns
 * @property {Composer} composer
 * @property {Record<string, any[]>} evidence
 * @property {{ state: string, attempt?: number, code?: string | null, message?: string | null }} connection
 * @property {{ closed: boolean, code?: string | null }} session
 */
/**
 * @typedef {object} Session
 * @property {string} sessionId
 * @property {number} cursor  number of the newest event this value includes
 * @property {boolean} working
 * @property {Record<string, any>} identity
 * @property {{ maxTurns: number, maxMessageBytes: number }} limits
 * @property {View & Record<string, any>} view
 */
/** @typedef {{ op: string } & Record<string, any>} Op */
/** @typedef {{ type: string, after?: number, seq: number, working?: boolean, ops?: Op[], error?: Problem, code?: string }} Frame */

export {}
