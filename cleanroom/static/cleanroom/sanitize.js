// sanitize.js: the last gate before innerHTML. Nothing that loads, covers, submits or names anything passes, whatever
// the parser before it did.
// @ts-check
import DOMPurify from 'dompurify'

const CONFIG = {
  ALLOWED_TAGS: [
    'a',
    'blockquote',
    'br',
    'code',
    'div',
    'em',
    'h3',
    'h4',
    'h5',
    'h6',
    'hr',
    'li',
    'ol',
    'p',
    'pre',
    's',
    'span',
    'strong',
    'table',
    'tbody',
    'td',
    'th',
    'thead',
    'tr',
    'ul',
  ],
  ALLOWED_ATTR: ['aria-label', 'class', 'href', 'rel', 'role', 'start', 'tabindex', 'target', 'title'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_TRUSTED_TYPE: true,
}

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return
  node.setAttribute('target', '_blank')
  node.setAttribute('rel', 'noopener noreferrer')
})

/** @param {string} markup @returns {string} a TrustedHTML where the browser has them */
export function sanitize(markup) {
  return /** @type {any} */ (DOMPurify.sanitize(markup, CONFIG))
}
