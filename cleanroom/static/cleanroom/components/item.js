// item.js: which component draws which kind of item. A kind this page does not know is drawn as a plain record.
// @ts-check
import { html, pure } from '../html.js'
import { AgentMessage, UserMessage } from './message.js'
import { Progress, ToolStrip } from './strips.js'
import { Comment, Deliverable, Dependency, Disposition, Document, PlainRecord } from './records.js'
import { Denial } from './denial.js'
import { Notice } from './notice.js'
import { Card } from '../cards/card.js'

/** @type {Record<string, any>} */
const VIEWS = {
  user_message: UserMessage,
  agent_message: AgentMessage,
  tool_activity: ToolStrip,
  progress_activity: Progress,
  denial: Denial,
  durable_comment: Comment,
  document: Document,
  deliverable: Deliverable,
  dependency: Dependency,
  disposition: Disposition,
  interaction: Card,
  record: PlainRecord,
  system_notice: Notice,
}

/** @param {{ item: import('../store.js').Signal<import('../types.js').Item> }} props */
function ItemOf({ item }) {
  const value = item.value
  return html`<${VIEWS[value.kind] ?? PlainRecord} item=${value} />`
}

export const ItemView = pure(ItemOf)
