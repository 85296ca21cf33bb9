// reset_dialog.js: the one question before a room is thrown away; Cancel has the focus.
// @ts-check
import { useEffect, useRef } from 'preact/hooks'
import { html, useRoom } from '../html.js'

/** @param {{ onClose: () => void }} props */
export function ResetDialog({ onClose }) {
  const room = useRoom()
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null))
  useEffect(() => dialog.current?.showModal(), [])
  const confirm = () => {
    dialog.current?.close()
    room.reset()
  }
  return html`
    <dialog
      ref=${dialog}
      class="dialog"
      data-testid="reset-dialog"
      aria-labelledby="reset-title"
      aria-describedby="reset-text"
      onClose=${onClose}
    >
      <h2 id="reset-title">Reset this room?</h2>
      <p id="reset-text">
        Codex stops, and this chat, its issue and its workspace are closed for good. You get a fresh room with a
        blank issue.
      </p>
      <div class="dialog-actions">
        <button type="button" class="button" autofocus data-testid="reset-cancel" onClick=${() => dialog.current?.close()}>
          Cancel
        </button>
        <button type="button" class="button danger" data-testid="reset-confirm" onClick=${confirm}>Reset</button>
      </div>
    </dialog>
  `
}
