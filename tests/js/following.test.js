// Staying at the end of a thread: a page that grows, and a reader who moves or does not.
import assert from 'node:assert/strict'
import test from 'node:test'
import { createFollowing } from '../../cleanroom/static/cleanroom/components/following.js'

/** A page as a browser scrolls it: never beyond its end. */
function page(height = 3_000) {
  let top = 0
  return {
    scrollHeight: height,
    clientHeight: 800,
    get scrollTop() {
      return top
    },
    set scrollTop(value) {
      top = Math.max(0, Math.min(value, this.scrollHeight - this.clientHeight))
    },
    get distance() {
      return this.scrollHeight - this.clientHeight - top
    },
  }
}

function grow(shown, following, grownBy) {
  shown.scrollHeight += grownBy
  following.grown()
}

test('the late event of a scroll of ours does not count as the reader leaving', () => {
  const shown = page()
  const following = createFollowing(shown)
  following.toEnd()
  shown.scrollHeight += 400 // the thread grows before the event of that scroll is told
  following.scrolled()
  following.grown()
  assert.equal(shown.distance, 0)
  assert.equal(following.far.value, false)
})

test('a reader who moved up is left alone, however the thread grows, and comes back by going to the end', () => {
  const shown = page()
  const following = createFollowing(shown)
  following.toEnd()
  shown.scrollTop -= 500
  following.scrolled()
  const { scrollTop } = shown
  grow(shown, following, 400)
  assert.equal(shown.scrollTop, scrollTop)
  assert.equal(following.far.value, true)
  shown.scrollTop += 100 // downwards, but not to the end
  following.scrolled()
  grow(shown, following, 400)
  assert.equal(shown.scrollTop, scrollTop + 100)
  shown.scrollTop = shown.scrollHeight
  following.scrolled()
  grow(shown, following, 400)
  assert.equal(shown.distance, 0)
})

test('a message of your own leads to the end from anywhere', () => {
  const shown = page()
  const following = createFollowing(shown)
  following.toEnd()
  shown.scrollTop = 0
  following.scrolled()
  following.toEnd()
  grow(shown, following, 900)
  assert.equal(shown.distance, 0)
  assert.equal(following.far.value, false)
})
