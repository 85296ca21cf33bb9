// early.js: the script in the head of the page, run as a browser would run it, with nothing of the page there yet.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import vm from 'node:vm'
import { createApi, TIMEOUT_MS } from '../../cleanroom/static/cleanroom/api.js'
import { SESSION_KEY } from '../../cleanroom/static/cleanroom/storage.js'

const source = await readFile(new URL('../../cleanroom/static/cleanroom/early.js', import.meta.url), 'utf8')

/** @param {{ storage?: any, fetch?: (address: string, options: any) => Promise<Response> }} [given] */
function run({ storage = { getItem: () => null }, fetch } = {}) {
  /** @type {[string, any][]} */
  const asked = []
  const answer = fetch ?? (async () => new Response('{"sessionId":"s1"}'))
  const context = vm.createContext({
    document: { currentScript: { dataset: { api: '/api/' } } },
    fetch: (/** @type {string} */ address, /** @type {any} */ options) => {
      asked.push([address, options])
      return answer(address, options)
    },
    AbortSignal: { timeout: (/** @type {number} */ ms) => `aborts after ${ms}` },
    get localStorage() {
      if (storage instanceof Error) throw storage
      return storage
    },
  })
  vm.runInContext(source, context)
  return { asked, early: context.earlyAnswer }
}

test('the room this browser was in is asked for as any open is, under the name it is remembered by', () => {
  const { asked } = run({ storage: { getItem: (/** @type {string} */ key) => (key === SESSION_KEY ? 'a b' : null) } })
  assert.deepEqual(asked.map(([address]) => address), ['/api/cleanroom/session?sessionId=a%20b'])
  const { cache, headers, signal } = asked[0][1]
  assert.deepEqual([cache, headers.Accept, signal], ['no-store', 'application/json', `aborts after ${TIMEOUT_MS}`])
})

test('a browser without memory, or with one that may not be touched, asks for a new room', () => {
  for (const storage of [undefined, { getItem: () => null }, new Error('denied')]) {
    assert.equal(run({ storage }).asked[0][0], '/api/cleanroom/session')
  }
})

test('the early answer is read as an open is: a payload, a refusal, or nobody there', async () => {
  const api = createApi({ base: '/api/', fetch: () => assert.fail('it was asked for already') })
  assert.deepEqual(await api.opened(run().early), { sessionId: 's1' })
  const refused = async () => new Response('{"error":"opening_busy","message":"Busy."}', { status: 503 })
  await assert.rejects(api.opened(run({ fetch: refused }).early), { code: 'opening_busy', status: 503 })
  const away = () => Promise.reject(new TypeError('no route'))
  await assert.rejects(api.opened(run({ fetch: away }).early), { code: 'network' })
})
