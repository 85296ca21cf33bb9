// markdown.js: agent prose as HTML, one string per top-level block, so that a growing message redraws its last block
// only. HTML is off, images are shown as text, and only http, https and mailto become links. Pure; what it returns still
// passes sanitize.js before it meets the page.
// @ts-check
import MarkdownIt from 'markdown-it'

const HEADING_SHIFT = 2 // the page owns h1 (the issue) and h2 (the turn)

const md = new MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false, maxNesting: 24 })
md.validateLink = (/** @type {string} */ address) => /^(https?:|mailto:)/i.test(address)
md.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false }) // `README.md` is a file, not a site in Moldova
md.linkify.add('ftp:', null).add('//', null)

/** @typedef {(tokens: any[], index: number, options: any, env: any, renderer: any) => string} Rule */

const escape = md.utils.escapeHtml

/** @type {Record<string, Rule>} */
const RULES = {
  image: (tokens, index) => {
    const source = escape(String(tokens[index].attrGet('src')))
    return `<span class="md-image">${escape(tokens[index].content || 'image')} (image not loaded: ${source})</span>`
  },
  heading_open: heading,
  heading_close: heading,
  th_open: cell,
  td_open: cell,
  table_open: () => '<div class="md-scroll" tabindex="0" role="group" aria-label="Table"><table>',
  table_close: () => '</table></div>',
  fence: code,
  code_block: code,
}
Object.assign(md.renderer.rules, RULES)

/** @type {Rule} */
function heading(tokens, index, options, _env, renderer) {
  const token = tokens[index]
  token.tag = `h${Math.min(6, Number(token.tag.slice(1)) + HEADING_SHIFT)}`
  return renderer.renderToken(tokens, index, options)
}

/** Alignment as a class: the page's policy allows no inline style. @type {Rule} */
function cell(tokens, index, options, _env, renderer) {
  const align = /text-align:(\w+)/.exec(String(tokens[index].attrGet('style')))?.[1]
  tokens[index].attrs = align ? [['class', `md-${align}`]] : null
  return renderer.renderToken(tokens, index, options)
}

/** @type {Rule} */
function code(tokens, index) {
  return `<pre tabindex="0" role="group" aria-label="Code"><code>${escape(tokens[index].content)}</code></pre>`
}

/** Return the HTML of each top-level block of a text, in order. @param {string} text @returns {string[]} */
export function markdownBlocks(text) {
  const env = /** @type {any} */ ({})
  const tokens = md.parse(text, env)
  const blocks = []
  let start = 0
  let depth = 0
  for (let index = 0; index < tokens.length; index += 1) {
    depth += tokens[index].nesting
    if (depth > 0) continue
    blocks.push(md.renderer.render(tokens.slice(start, index + 1), md.options, env))
    start = index + 1
  }
  return blocks
}
