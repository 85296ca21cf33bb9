// What a card still says when it takes no answer any more, and what a message would do to one that waits.
import assert from 'node:assert/strict'
import test from 'node:test'
import { approvedFacts, askedOf, repeatsPrompt } from '../../cleanroom/static/cleanroom/cards/asked.js'
import { messageWithdraws } from '../../cleanroom/static/cleanroom/composer.js'

const asked = (interactionKind, payload, more = {}) => askedOf({ interactionKind, payload, prompt: 'Please say.', ...more })

test('a decided approval keeps what was approved', () => {
  const details = [
    { label: 'summary', value: 'Buy a licence' },
    { label: 'title', value: 'Licence' },
  ]
  assert.deepEqual(asked('approval', { details }), [
    ['Summary', 'Buy a licence'],
    ['Title', 'Licence'],
  ])
})

test('every kind of card keeps what was asked', () => {
  assert.deepEqual(asked('confirmation', { targetSummary: 'plan, revision 2' }), [['About', 'plan, revision 2']])
  assert.deepEqual(asked('checkbox', { options: [{ label: 'a' }, { label: 'b' }] }), [['Options', ['a', 'b']]])
  assert.deepEqual(asked('suggest_tasks', { tasks: [{ title: 'Collect' }] }), [['Suggested', 'Collect']])
  assert.deepEqual(asked('item_verdicts', { items: [{ title: 'Draft A' }, { title: 'B' }] }), [['Items', ['Draft A', 'B']]])
  assert.deepEqual(asked('questions', { questions: [{ prompt: 'Who?' }, { prompt: 'Why?' }] }), [['Asked', ['Who?', 'Why?']]])
})

test('nothing is said twice, and a kind of next year costs nothing', () => {
  const questions = [{ prompt: 'Please say.' }, { prompt: 'Who?' }, { prompt: 'Why?' }]
  assert.deepEqual(asked('questions', { questions }, { resolvedSummary: ['Who? Board'] }), [['Asked', 'Why?']])
  assert.deepEqual(asked('confirmation', { targetSummary: 'Please say.' }), [])
  assert.deepEqual(asked('kind_of_next_year', { questions }), [])
  assert.deepEqual(askedOf({ interactionKind: 'approval', payload: null }), [])
})

test('a message withdraws a question that waits, and leaves an approval pending', () => {
  const view = (...items) => ({ turns: [{ items: items.map((one) => ({ kind: 'interaction', ...one })) }] })
  const approval = { interactionKind: 'approval', state: 'pending' }
  const question = { interactionKind: 'questions', state: 'pending' }
  assert.equal(messageWithdraws(view(approval)), false)
  assert.equal(messageWithdraws(view(approval, question)), true)
  assert.equal(messageWithdraws(view({ ...question, state: 'answered' })), false)
})

test('an answered card leaves out the optional questions that were passed over, and others do not', () => {
  const questions = [{ prompt: 'Please say.' }, { prompt: 'Or in your own words', required: false }, { prompt: 'Why?' }]
  const answered = { state: 'answered', resolvedSummary: ['Please say. Wait'] }
  assert.deepEqual(asked('questions', { questions }, answered), [['Asked', 'Why?']])
  assert.deepEqual(asked('questions', { questions }, { state: 'expired' }), [['Asked', ['Or in your own words', 'Why?']]])
})

test('an approval says its title once', () => {
  const details = [
    { label: 'title', value: 'Hosting' },
    { label: 'summary', value: 'A year of it' },
  ]
  assert.deepEqual(approvedFacts(details, { title: 'hosting' }), [['Summary', 'A year of it']])
})

test('a question that is the prompt itself is asked once', () => {
  const payload = { questions: [{ prompt: 'Which?' }] }
  const item = { interactionKind: 'questions', state: 'pending', prompt: 'Which?', payload }
  assert.equal(repeatsPrompt(item), true)
  assert.equal(repeatsPrompt({ ...item, prompt: 'Before I begin' }), false)
  assert.equal(repeatsPrompt({ ...item, state: 'answered', resolvedSummary: ['Which? That one'] }), true)
  assert.equal(repeatsPrompt({ ...item, state: 'expired' }), false, 'nothing else says what was asked')
  assert.equal(repeatsPrompt({ ...item, interactionKind: 'confirmation' }), false)
})
