const form = /^[A-Za-z0-9+/]*={0,2}$/

/** Whether a text is base64 with its padding and nothing else (RFC 4648, section 4). One run, however long the text is. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && form.test(text)
}
