// suggest_tasks.js: tasks the agent would create; the chosen ones are made when accepted.
// @ts-check
import { useState } from 'preact/hooks'
import { html } from '../html.js'
import { Choices, labelsOf } from './checkbox.js'
import { AcceptOrReject } from './reason.js'

/** @param {{ item: any, payload: any, answer: (outcome: string, result: unknown) => void }} props */
export function SuggestTasks({ item, payload, answer }) {
  const tasks = payload.tasks.map((/** @type {any} */ task) => ({ ...task, label: task.title }))
  const [chosen, setChosen] = useState(() => tasks.map((/** @type {any} */ task) => task.id))
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
