// following.js: stays at the end of a growing thread while the reader is there, and never pulls one away who is not.
// @ts-check
import { signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { html } from '../html.js'
import { Down } from './icons.js'

const AT_END_PX = 80
const FAR_PX = 300 // source: reference B section 1.12

/** @typedef {{ scrollHeight: number, clientHeight: number, scrollTop: number }} Scroller */

export function useFollowing() {
  const following = useMemo(() => createFollowing(document.documentElement), [])
  useEffect(() => watch(following), [])
  return following
}

/** @param {Scroller} page */
export function createFollowing(page) {
  const far = signal(false)
  let atEnd = true
  let top = page.scrollTop // where the page stood when last looked at
  const distance = () => page.scrollHeight - page.clientHeight - page.scrollTop
  const measure = () => {
    top = page.scrollTop
    far.value = distance() > FAR_PX
  }
  const toEnd = () => {
    atEnd = true
    page.scrollTop = page.scrollHeight
    measure()
  }
  /** Only moving up leaves the end: the event of a scroll of ours may come after the thread has grown again. */
  const scrolled = () => {
    if (distance() <= AT_END_PX) atEnd = true
    else if (page.scrollTop < top) atEnd = false
    measure()
  }
  const grown = () => (atEnd ? toEnd() : measure())
  return { far, toEnd, scrolled, grown }
}

/** @param {ReturnType<typeof createFollowing>} following */
function watch({ scrolled, grown }) {
  const observer = new ResizeObserver(grown)
  observer.observe(document.body) // the dock grows too
  addEventListener('scroll', scrolled, { passive: true })
  return () => {
    observer.disconnect()
    removeEventListener('scroll', scrolled)
  }
}

/** @param {{ following: ReturnType<typeof createFollowing> }} props */
export function JumpToLatest({ following }) {
  if (!following.far.value) return null
  return html`
    <button type="button" class="button jump" data-testid="jump-to-latest" onClick=${following.toEnd}>
      <${Down} />Jump to latest
    </button>
  `
}
