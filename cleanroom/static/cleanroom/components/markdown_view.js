// markdown_view.js: prose, block by block; a block that reads the same is left alone, with its selection and scroll.
// @ts-check
import { useMemo } from 'preact/hooks'
import { html, pure } from '../html.js'
import { markdownBlocks } from '../markdown.js'
import { sanitize } from '../sanitize.js'

/** @param {{ text: string }} props */
export function Markdown({ text }) {
  const blocks = useMemo(() => markdownBlocks(text), [text])
  const block = (/** @type {string} */ markup, /** @type {number} */ at) =>
    html`<${Block} key=${at} markup=${markup} />`
  return html`<div class="md" dir="auto">${blocks.map(block)}</div>`
}

const Block = pure(
  (/** @type {{ markup: string }} */ { markup }) =>
    html`<div class="md-block" dangerouslySetInnerHTML=${{ __html: sanitize(markup) }}></div>`,
)
