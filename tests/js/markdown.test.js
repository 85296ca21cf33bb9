// The parser alone; that nothing of it loads, runs or covers in a page is shown by tests/browser/test_markdown.py.
import assert from 'node:assert/strict'
import test from 'node:test'
import { markdownBlocks } from '../../cleanroom/static/cleanroom/markdown.js'
import { cases } from './support.js'

const rendered = (text) => markdownBlocks(text).join('')

for (const { id, markdown, shown = [], allow_links: links = [] } of cases('markdown')) {
  test(`markdown ${id}: no element but those of prose, and no other scheme`, () => {
    const html = rendered(markdown)
    assert.doesNotMatch(html, /<(script|img|iframe|svg|style|form|input|button|base|b)\b/i)
    for (const [, address] of html.matchAll(/href="([^"]*)"/g)) assert.match(address, /^(https?:|mailto:)/)
    for (const words of shown) assert.ok(html.includes(words.replaceAll('<', '&lt;').replaceAll('>', '&gt;')), html)
    for (const address of links) assert.ok(html.includes(`href="${address.replaceAll('&', '&amp;')}"`), html)
  })
}

test('an image is shown as its words and its address', () => {
  assert.match(
    rendered('![chart](https://evil.example/p.png)'),
    /chart \(image not loaded: https:\/\/evil\.example\/p\.png\)/,
  )
})

test('file names and bare hosts are no links; addresses with a scheme are', () => {
  assert.doesNotMatch(rendered('README.md example.com //x.test ftp://x.test ada@example.com'), /<a /)
  assert.match(rendered('see https://example.test/x'), /<a href="https:\/\/example\.test\/x">/)
})

test('a growing text changes its last block only, and the blocks joined are the whole', () => {
  const whole = '# Title\n\nFirst *words*.\n\n- one\n- two\n\n```js\nlet x\n```\n\nLast.'
  const blocks = markdownBlocks(whole)
  assert.equal(blocks.length, 5)
  assert.deepEqual(markdownBlocks(`${whole} More.`).slice(0, 4), blocks.slice(0, 4))
  assert.match(markdownBlocks('[a][r]\n\n[r]: https://example.test/')[0], /href="https:\/\/example\.test\/"/)
})

test('headings leave the first two levels to the page', () => {
  assert.deepEqual(
    markdownBlocks('# a\n\n## b\n\n###### f\n\na\n===').map((html) => html.slice(0, 4)),
    ['<h3>', '<h4>', '<h6>', '<h3>'],
  )
})

test('no inline style is made, not even by tables', () => {
  const html = rendered('| a | b |\n|:-:|--:|\n| 1 | 2 |')
  assert.doesNotMatch(html, /style=/)
  assert.match(html, /<th class="md-center">/)
})

test('deep nesting and long lines stay fast', () => {
  const started = performance.now()
  for (const text of [
    '>'.repeat(5_000),
    '['.repeat(5_000),
    '*a '.repeat(5_000),
    `${'- '.repeat(500)}x`,
    '`'.repeat(9_999),
  ])
    rendered(text)
  assert.ok(performance.now() - started < 1_000)
})
