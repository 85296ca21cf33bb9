// following.js: stays at the end of a growing thread while the reader is there, and never pulls one away who is not.
// @ts-check
import { signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { html } from '../html.js'
import { Down } from './icons.js'

const AT_END_PX = 80
const FAR_PX = 300 // source: reference B section 1.12

export function useFollowing() {
  const following = useMemo(createFollowing, [])
  useEffect(following.watch, [])
  return following
}

function createFollowing() {
  const far = signal(false)
  let atEnd = true
  const distance = () => {
    const { scrollHeight, clientHeight, scrollTop } = document.documentElement
    return scrollHeight - clientHeight - scrollTop
  }
  const toEnd = () => {
    atEnd = true
    window.scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' })
  }
  const look = () => {
    atEnd = distance() <= AT_END_PX
    far.value = distance() > FAR_PX
  }
  const grown = () => {
    if (atEnd) toEnd()
    far.value = distance() > FAR_PX
  }
  const watch = () => {
    const observer = new ResizeObserver(grown)
    observer.observe(document.body) // the dock grows too
    addEventListener('scroll', look, { passive: true })
    return () => {
      observer.disconnect()
      removeEventListener('scroll', look)
    }
  }
  return { far, toEnd, watch }
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
