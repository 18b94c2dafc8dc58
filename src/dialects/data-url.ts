/** Parses `data:` URLs (RFC 2397), and decodes their bytes as text. */

const head = /^\s{0,64}data:([^,]{0,1024}),/i

export interface DataUrl {
  /** Lower case, without parameters; empty where it claims nothing. */
  type: string
  /** The part before the comma. */
  header: string
  isBase64: boolean
  charset: string | undefined
  data: string
}

export function parseDataUrl(text: string): DataUrl | undefined {
  const match = head.exec(text)
  if (match === null) return undefined
  const header = match[1]!
  const [type = '', ...parameters] = header.split(';').map((each) => each.trim().toLowerCase())
  const charset = parameters.find((each) => each.startsWith('charset='))?.slice('charset='.length)
  return { type, header, isBase64: parameters.at(-1) === 'base64', charset, data: text.slice(match[0].length) }
}

/** Decodes bytes as text; invalid ones become U+FFFD. */
export function textOf(bytes: Buffer, charset: string | undefined): string {
  const [first, second] = bytes
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  const label = isMarked ? (first === 0xff ? 'utf-16le' : 'utf-16be') : (charset ?? zeroed(bytes) ?? 'utf-8')
  try {
    return new TextDecoder(label).decode(bytes)
  } catch {
    // An unknown encoding.
    return bytes.toString()
  }
}

/** Western text in UTF-16 without a mark has a zero in every other byte. */
export function zeroed(bytes: Buffer): string | undefined {
  const counts = [0, 0]
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 0) counts[i & 1]!++
  const least = bytes.length / 4
  if (counts[1]! > least && counts[0]! === 0) return 'utf-16le'
  return counts[0]! > least && counts[1]! === 0 ? 'utf-16be' : undefined
}

/** Decodes percent escapes to bytes (RFC 3986 section 2.1); everything else is kept. */
function percentDecoded(text: string): Buffer {
  const bytes = Buffer.from(text)
  if (!text.includes('%')) return bytes
  let to = 0
  for (let i = 0; i < bytes.length; i++) {
    const value = bytes[i] === 37 ? hexPair(bytes, i + 1) : -1
    bytes[to++] = value === -1 ? bytes[i]! : value
    if (value !== -1) i += 2
  }
  return bytes.subarray(0, to)
}

function hexPair(bytes: Buffer, at: number): number {
  const high = hexDigit(bytes[at])
  const low = hexDigit(bytes[at + 1])
  return high === -1 || low === -1 ? -1 : high * 16 + low
}

function hexDigit(code: number | undefined): number {
  if (code === undefined) return -1
  if (code >= 48 && code <= 57) return code - 48
  const letter = code | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}

export function bytesOf({ isBase64, data }: DataUrl): Buffer {
  const bytes = percentDecoded(data)
  return isBase64 ? Buffer.from(bytes.toString('latin1'), 'base64') : bytes
}
