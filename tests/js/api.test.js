import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import test, { after, before } from 'node:test'
import { ApiError, createApi } from '../../cleanroom/static/cleanroom/api.js'

let server, base, seen, answer

before(async () => {
  server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen = { method: request.method, url: request.url, type: request.headers['content-type'], body }
    answer(response)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${server.address().port}/api/`
})
after(() => server.closeAllConnections() ?? server.close())

const json = (status, value) => (response) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
const refused = (work) => assert.rejects(work, ApiError).then(() => work.catch((error) => error))

test('each route is called with its method, type and body', async () => {
  answer = json(200, { ok: true })
  const api = createApi({ base })
  const expected = [
    [() => api.open(), 'GET', '/api/cleanroom/session', ''],
    [() => api.open('a b'), 'GET', '/api/cleanroom/session?sessionId=a%20b', ''],
    [() => api.newChat(), 'POST', '/api/cleanroom/session', '{}'],
    [() => api.newChat('s'), 'POST', '/api/cleanroom/session', '{"sessionId":"s"}'],
    [
      () => api.send('s', 'hé', 'm-1'),
      'POST',
      '/api/message',
      '{"sessionId":"s","message":"hé","clientMessageId":"m-1"}',
    ],
    [() => api.interrupt('s'), 'POST', '/api/interrupt', '{"sessionId":"s"}'],
    [() => api.reconnect('s'), 'POST', '/api/reconnect', '{"sessionId":"s"}'],
    [() => api.reset('s'), 'POST', '/api/reset', '{"sessionId":"s"}'],
    [
      () => api.answer('s', { interactionId: 'i', outcome: 'accepted', result: null }),
      'POST',
      '/api/interaction',
      '{"sessionId":"s","interactionId":"i","outcome":"accepted","result":null}',
    ],
  ]
  for (const [call, method, url, body] of expected) {
    assert.deepEqual(await call(), { ok: true })
    assert.deepEqual([seen.method, seen.url, seen.body], [method, url, body])
    assert.equal(seen.type, method === 'POST' ? 'application/json' : undefined)
  }
})

test('a refusal keeps its code, sentence, status and reference', async () => {
  answer = json(500, { error: 'internal_error', message: 'It broke.', reference: 'r-1' })
  const { code, message, status, reference } = await refused(createApi({ base }).interrupt('s'))
  assert.deepEqual(
    { code, message, status, reference },
    { code: 'internal_error', message: 'It broke.', status: 500, reference: 'r-1' },
  )
})

test('an answer that is no JSON is a refusal named by its status', async () => {
  answer = (response) => response.writeHead(502).end('<html>')
  assert.equal((await refused(createApi({ base }).open())).code, 'http_502')
})

test('a server that is not there, or does not answer, has a name of its own', async () => {
  assert.equal((await refused(createApi({ base: 'http://127.0.0.1:9/' }).open())).code, 'network')
  answer = () => {}
  assert.equal((await refused(createApi({ base, timeoutMs: 30 }).open())).code, 'timeout')
})
