import assert from 'node:assert/strict'
import test from 'node:test'
import { counter, isBlank, utf8Bytes } from '../../cleanroom/static/cleanroom/bytes.js'
import { cases } from './support.js'

const join = (parts) => parts.map((part) => (typeof part === 'string' ? part : part.repeat.repeat(part.times))).join('')

for (const { id, parts, utf8_bytes: bytes, expect } of cases('messages')) {
  test(`message ${id} counts ${bytes} bytes and is ${expect}`, () => {
    const text = join(parts)
    assert.equal(utf8Bytes(text), bytes)
    assert.equal(utf8Bytes(text), new TextEncoder().encode(text).length)
    assert.equal(counter(text, 8192).over, expect === 'refuse:message_too_large')
    assert.equal(isBlank(text), expect === 'refuse:message_empty')
  })
}

test('lone surrogates count as what is sent for them', () => {
  for (const text of ['\ud83d', 'a\ude00b', '\ud83d\ud83d\ude00']) {
    assert.equal(utf8Bytes(text), new TextEncoder().encode(text).length)
  }
})

test('the counter keeps silent until the text comes near the limit, then names what is too much', () => {
  assert.equal(counter('a'.repeat(6000), 8192).shown, false)
  assert.deepEqual(counter('a'.repeat(8000), 8192), {
    bytes: 8000,
    over: false,
    shown: true,
    text: '8,000 of 8,192 bytes',
  })
  assert.equal(counter('€'.repeat(2731), 8192).text, '8,193 of 8,192 bytes: 1 too many')
})
