// surface.js: a room: header, thread, and the dock with rail and composer.
// @ts-check
import { html, useRoom } from '../html.js'
import { Header } from './header.js'
import { Banner } from './banner.js'
import { Thread } from './thread.js'
import { Composer } from './composer_view.js'
import { Rail } from './rail_view.js'
import { RoomOver } from './room_over.js'
import { ActionError } from './action_error.js'
import { JumpToLatest, useFollowing } from './following.js'

export function Surface() {
  const { over } = useRoom()
  const following = useFollowing()
  return html`
    <${Header} />
    <main class="column">
      <${Thread} />
    </main>
    <div class="dock">
      <div class="column">
        <${JumpToLatest} following=${following} />
        <${Banner} />
        <${ActionError} />
        <${Rail} />
        ${over.value ? html`<${RoomOver} code=${over.value.code} />` : html`<${Composer} onSent=${following.toEnd} />`}
      </div>
    </div>
  `
}
