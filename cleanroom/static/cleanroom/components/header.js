// header.js: which issue, in what state, who is real and who is not, and the two ways out.
// @ts-check
import { useState } from 'preact/hooks'
import { html, useRoom } from '../html.js'
import { words } from '../format.js'
import { Plus, Reset } from './icons.js'
import { ResetDialog } from './reset_dialog.js'

const REHEARSAL = 'Rehearsal model (rules, not a language model)'

export function Header() {
  const room = useRoom()
  const [asking, setAsking] = useState(false)
  const session = room.store.head.value
  if (!session) return null
  const { issue, identity } = session.view
  const busy = room.busy.value !== ''
  return html`
    <header class="topbar">
      <div class="topbar-row">
        <div class="issue">
          <span class="issue-id">${issue.identifier}</span>
          <h1 class="issue-title">${issue.title}</h1>
          <span class="pill" data-status=${issue.status} data-testid="issue-status">${words(issue.status)}</span>
        </div>
        <div class="actions">
          <button type="button" class="button quiet" data-testid="reset" disabled=${busy} onClick=${() => setAsking(true)}>
            <${Reset} /><span class="button-label">Reset</span>
          </button>
          <button type="button" class="button" data-testid="new-chat" disabled=${busy} onClick=${room.newChat}>
            <${Plus} /><span class="button-label">New chat</span>
          </button>
        </div>
      </div>
      <ul class="chips" aria-label="Who is behind this room">
        <${Chip} label=${identity.agentLabel} tone="real" />
        <${Chip} label=${identity.runnerLabel} tone=${identity.runnerAttached ? 'real' : 'off'} />
        <${Chip} label=${identity.controlPlaneLabel} tone="mock" tip=${identity.controlPlaneTooltip} />
        <${Chip} label=${modelLabel(identity)} tone=${identity.rehearsal ? 'rehearsal' : 'real'} testid="model-chip" />
        <${Chip} label=${`Clean room ${session.identity.token}`} tone="plain" testid="room-chip" />
      </ul>
      ${asking ? html`<${ResetDialog} onClose=${() => setAsking(false)} />` : null}
    </header>
  `
}

/** @param {{ label: string, tone: string, tip?: string, testid?: string }} props */
function Chip({ label, tone, tip, testid }) {
  const off = tone === 'off' ? html` <span class="muted">(idle)</span>` : null
  if (!tip) return html`<li class="chip" data-tone=${tone} data-testid=${testid}>${label}${off}</li>`
  return html`
    <li class="chip has-tip" data-tone=${tone}>
      <button type="button" class="chip-button" aria-describedby="chip-tip">${label}</button>
      <span class="tip" id="chip-tip" role="tooltip">${tip}</span>
    </li>
  `
}

/** A rehearsal is always called one, whatever the label says. @param {Record<string, any>} identity */
function modelLabel(identity) {
  return identity.rehearsal ? REHEARSAL : identity.modelLabel || 'Model of Codex'
}
