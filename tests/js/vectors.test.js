// The fold and the composer against the vectors that the server's twins pass too.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { composerOf } from '../../cleanroom/static/cleanroom/composer.js'
import { applyFrame } from '../../cleanroom/static/cleanroom/session_state.js'

const read = (name) => JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), 'utf8'))
const composers = read('composer')
const folds = read('frames')

test('both files of vectors hold cases', () => {
  assert.ok(composers.length >= 10 && folds.length >= 10)
})

for (const { name, view, composer } of composers) {
  test(`composer: ${name}`, () => assert.deepEqual(composerOf(view), composer))
}

for (const { name, view, frames, expected } of folds) {
  test(`frames: ${name}`, () => {
    const untouched = structuredClone(view)
    const cursor = frames[0].after ?? 0
    const session = frames.reduce(applyFrame, { sessionId: 's', cursor, working: false, view })
    assert.deepEqual(session.view, expected)
    assert.deepEqual(view, untouched, 'the value held before is left as it was')
  })
}
