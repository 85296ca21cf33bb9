// suggest_tasks.js: tasks the agent would create; the chosen ones are made when accepted.
// @ts-check
import { useState } from 'preact/hooks'
import { html } from '../html.js'
import { Choices, labelsOf } from './choices.js'
import { AcceptOrReject } from './reason.js'

/** @param {import('./fields.js').CardProps} props */
export function SuggestTasks({ item, payload, answer }) {
  /** @type {import('./choices.js').Option[]} */
  const tasks = payload.tasks.map((/** @type {any} */ task) => ({ ...task, label: task.title }))
  const [chosen, setChosen] = useState(() => tasks.map(({ id }) => id))
  return html`
    <${Choices} legend="Tasks to create" options=${tasks} chosen=${chosen} onChange=${setChosen} />
    <${AcceptOrReject}
      id=${item.id}
      acceptLabel=${payload.acceptLabel}
      rejectLabel="Reject"
      mayAccept=${chosen.length > 0}
      onAccept=${() => answer('accepted', { acceptedTaskIds: chosen, summary: labelsOf(tasks, chosen) })}
      onReject=${(/** @type {string} */ reason) => answer('rejected', { reason })}
    />
  `
}
