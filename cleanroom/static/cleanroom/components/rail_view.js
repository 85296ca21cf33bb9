// rail_view.js: the live status rail: what the agent is doing now, and for how long. Not announced: it changes too often.
// @ts-check
import { useComputed } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { html, useRoom } from '../html.js'
import { duration, epoch } from '../format.js'
import { railText } from '../rail.js'

export function Rail() {
  const room = useRoom()
  const { store, pending, composerState, stopping } = room
  const text = useComputed(() => {
    const entry = newestTurn(store)
    if (!entry || waitsForTurn(pending.value, entry.facts.value.ordinal)) return railText(null)
    const items = entry.itemIds.value.map((/** @type {string} */ id) => entry.items.get(id)?.value)
    return railText({ ...entry.facts.value, items: /** @type {any} */ (items) })
  })
  if (composerState.value !== 'streaming') return null
  const entry = newestTurn(store)
  const since = pending.value?.at ?? epoch(entry?.facts.value.at)
  return html`
    <div class="rail" role="status" aria-live="off" data-testid="live-activity">
      <span class="pulse" aria-hidden="true"></span>
      <span class="rail-text">${stopping.value ? 'Stopping' : text.value}</span>
      ${since === null ? null : html`<${Elapsed} since=${since} />`}
    </div>
  `
}

/** @param {{ since: number }} props */
function Elapsed({ since }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.floor((now - since) / 1000)
  return seconds < 1 ? null : html`<span class="rail-time">${duration(seconds * 1000)}</span>`
}

/** @param {import('../store.js').Store} store */
function newestTurn(store) {
  const id = store.turnIds.value.at(-1)
  return id === undefined ? null : store.turn(id)
}

/** @param {import('../sending.js').Pending | null} pending @param {number} ordinal */
function waitsForTurn(pending, ordinal) {
  return pending !== null && ordinal <= pending.ordinal
}
