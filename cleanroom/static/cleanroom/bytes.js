// bytes.js: how large a message is, counted as the server counts: bytes of UTF-8. Pure.
// @ts-check

const NEAR = 0.75 // the counter shows itself from this share of the limit
const INVISIBLE = /[\s\p{Cf}\p{Cc}\u034f\ufe00-\ufe0f]/gu

/** Bytes of UTF-8. A lone surrogate counts as the three bytes of U+FFFD it is sent as. @param {string} text */
export function utf8Bytes(text) {
  let bytes = 0
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) bytes += 1
    else if (unit < 0x800) bytes += 2
    else if (isPair(unit, text.charCodeAt(index + 1))) {
      bytes += 4
      index += 1
    } else bytes += 3
  }
  return bytes
}

/** Whether nothing visible was written: blanks, controls and zero-width characters only. @param {string} text */
export function isBlank(text) {
  return text.replace(INVISIBLE, '') === ''
}

/**
 * What the counter says: nothing until the text comes near the limit.
 * @param {string} text @param {number} limit @returns {{ bytes: number, over: boolean, shown: boolean, text: string }}
 */
export function counter(text, limit) {
  const bytes = text.length * 3 < limit * NEAR ? text.length : utf8Bytes(text) // far away: no need to count
  const over = bytes > limit
  const group = (/** @type {number} */ value) => value.toLocaleString('en-US')
  const label = over
    ? `${group(bytes)} of ${group(limit)} bytes: ${group(bytes - limit)} too many`
    : `${group(bytes)} of ${group(limit)} bytes`
  return { bytes, over, shown: bytes >= limit * NEAR, text: label }
}

/** @param {number} high @param {number} low */
function isPair(high, low) {
  return high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000
}
