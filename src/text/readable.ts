/** Decides whether decoded bytes are human text, and decodes it. */

/**
 * The text of `bytes`, as UTF-8 or UTF-16, or undefined where too much of it is no text. A little garbage is allowed: a
 * model reads past it.
 */
export function readable(bytes: Buffer): string | undefined {
  if (bytes.length >= 8 && bytes[1] === 0 && bytes[3] === 0 && bytes[5] === 0) {
    const wide = bytes.toString('utf16le')
    return isText(wide) ? wide : undefined
  }
  const text = bytes.toString('utf8')
  return isText(text) ? text : undefined
}

function isText(text: string): boolean {
  let good = 0
  let bad = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if ((code >= 97 && code <= 122) || code === 32) good += 2
    else if (code >= 32 && code < 127) good++
    else if (code === 9 || code === 10 || code === 13) good++
    else if (code < 160 || code === 0xfffd) bad++
    else good++
  }
  // Random bytes are one third printable; text is nearly all printable and mostly small letters, or not ASCII at all.
  return good > 0 && bad * 12 <= text.length
}

/** The same where the encoding leaves more to chance: see `isNoAccident`. */
export function worded(bytes: Buffer): string | undefined {
  const text = readable(bytes)
  return text !== undefined && isNoAccident(text) ? text : undefined
}

/** So many bytes are all printable, or well-formed UTF-8, by chance once in ten million times. */
const longEnough = 16

/** Whether what was decoded is words, or longer than chance gives. */
export function isNoAccident(text: string): boolean {
  return readsAsWords(text) || (text.length >= longEnough && !notText.test(text))
}

const notText = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\p{Cn}\p{Co}\p{Cs}]/u

/** Whether a text is made of letters and spaces for the most part, with no characters that text does not hold. */
export function readsAsWords(text: string): boolean {
  if (notText.test(text)) return false
  const letters = text.match(/[\p{Ll}\p{Lo}\p{Mn} \n]/gu)?.length ?? 0
  const all = text.match(/[\p{L}\p{Mn} \n]/gu)?.length ?? 0
  // Sentences in capitals are sentences; capitals and small letters in disorder are not.
  return (
    (letters * 4 >= text.length * 3 || (all * 5 >= text.length * 4 && !/[a-z][A-Z]/.test(text))) &&
    /\p{L}{2}/u.test(text)
  )
}
