/** Pictures as encoders make them, and the means to make hostile ones. */
import { readFileSync } from 'node:fs'
import { crc32, deflateSync } from 'node:zlib'

/** One that test/fixtures/pictures/draw.mjs has drawn. */
export const drawn = (name: string): Buffer =>
  readFileSync(new URL(`../fixtures/pictures/${name}${name.includes('.') ? '' : '.png'}`, import.meta.url))

export function chunk(type: string, data: Buffer | string): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), Buffer.from(data)])
  const whole = Buffer.alloc(8 + body.length)
  whole.writeUInt32BE(body.length - 4, 0)
  body.copy(whole, 4)
  whole.writeUInt32BE(crc32(body), 4 + body.length)
  return whole
}

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

/** A PNG of one bit a pixel, white where nothing else is told. */
export function blank(width: number, height: number, { rows }: { rows?: Buffer } = {}): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head[8] = 1
  const row = Buffer.alloc(1 + Math.ceil(width / 8), 255)
  row[0] = 0
  const data = rows ?? Buffer.concat(Array.from({ length: Math.min(height, 4000) }, () => row))
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', deflateSync(data)), chunk('IEND', '')])
}

/** PNG of 8 bits of grey. */
export function pngOf({ width, height, data }: Grey): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head[8] = 8
  const rows = Array.from({ length: height }, (_, y) =>
    Buffer.concat([Buffer.from([0]), data.subarray(y * width, (y + 1) * width)])
  )
  const packed = deflateSync(Buffer.concat(rows))
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', packed), chunk('IEND', '')])
}

/** With chunks behind the head of a PNG. */
export function withChunks(png: Buffer, ...chunks: Buffer[]): Buffer {
  return Buffer.concat([png.subarray(0, 33), ...chunks, png.subarray(33)])
}

/** With segments behind the start of a JPEG. */
export function withSegments(jpeg: Buffer, ...segments: [marker: number, data: Buffer | string][]): Buffer {
  const made = segments.map(([marker, data]) => {
    const body = Buffer.from(data as string, typeof data === 'string' ? 'latin1' : undefined)
    const head = Buffer.from([0xff, marker, 0, 0])
    head.writeUInt16BE(body.length + 2, 2)
    return Buffer.concat([head, body])
  })
  return Buffer.concat([jpeg.subarray(0, 2), ...made, jpeg.subarray(2)])
}

/** Rows of grey, 0 to 255. */
export interface Grey {
  width: number
  height: number
  data: Uint8Array
}

/** BMP of 24 bits, from below. */
export function bmp({ width, height, data }: Grey): Buffer {
  const row = (width * 3 + 3) & ~3
  const bytes = Buffer.alloc(54 + row * height)
  bytes.write('BM', 'latin1')
  bytes.writeUInt32LE(bytes.length, 2)
  bytes.writeUInt32LE(54, 10)
  bytes.writeUInt32LE(40, 14)
  bytes.writeInt32LE(width, 18)
  bytes.writeInt32LE(height, 22)
  bytes.writeUInt16LE(1, 26)
  bytes.writeUInt16LE(24, 28)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const at = 54 + (height - 1 - y) * row + 3 * x
      bytes.fill(data[y * width + x]!, at, at + 3)
    }
  return bytes
}

/** TIFF of 8 bits of grey in one strip. @param next where another directory is said to be */
export function tiff(
  { width, height, data }: Grey,
  { next = 0, text = '' }: { next?: number; text?: string } = {}
): Buffer {
  const entries: [tag: number, type: number, count: number, value: number][] = [
    [256, 4, 1, width],
    [257, 4, 1, height],
    [258, 3, 1, 8],
    [259, 3, 1, 1],
    [262, 3, 1, 1],
    [270, 2, text.length + 1, 8 + data.length],
    [273, 4, 1, 8],
    [277, 3, 1, 1],
    [278, 4, 1, height],
    [279, 4, 1, data.length]
  ]
  const words = Buffer.from(`${text}\0${'\0'.repeat((text.length + data.length + 1) % 2)}`)
  const directory = Buffer.alloc(2 + 12 * entries.length + 4)
  directory.writeUInt16LE(entries.length, 0)
  for (const [i, [tag, type, count, value]] of entries.entries()) {
    const at = 2 + 12 * i
    directory.writeUInt16LE(tag, at)
    directory.writeUInt16LE(type, at + 2)
    directory.writeUInt32LE(count, at + 4)
    if (type === 3) directory.writeUInt16LE(value, at + 8)
    else directory.writeUInt32LE(value, at + 8)
  }
  directory.writeUInt32LE(next, directory.length - 4)
  const head = Buffer.from('II*\0\0\0\0\0', 'latin1')
  head.writeUInt32LE(8 + data.length + words.length, 4)
  return Buffer.concat([head, data, words, directory])
}

/** GIF of 128 greys, each pixel a code of eight bits of its own, with a clear code before the table grows. */
export function gif({ width, height, data }: Grey, { frames = 1, comment = '' } = {}): Buffer {
  const head = Buffer.alloc(13)
  head.write('GIF89a', 'latin1')
  head.writeUInt16LE(width, 6)
  head.writeUInt16LE(height, 8)
  head[10] = 0xf6
  const table = Buffer.from(Array.from({ length: 128 }, (_, i) => [2 * i, 2 * i, 2 * i]).flat())
  const codes: number[] = []
  for (let i = 0; i < data.length; i++) {
    if (i % 100 === 0) codes.push(128)
    codes.push(data[i]! >> 1)
  }
  const packed = Buffer.from([...codes, 129])
  const blocks: Buffer[] = []
  for (let at = 0; at < packed.length; at += 255) {
    const part = packed.subarray(at, at + 255)
    blocks.push(Buffer.from([part.length]), part)
  }
  const place = Buffer.alloc(11)
  place[0] = 0x2c
  place.writeUInt16LE(width, 5)
  place.writeUInt16LE(height, 7)
  place[10] = 7
  const picture = Buffer.concat([place, ...blocks, Buffer.from([0])])
  const said = comment === '' ? [] : [Buffer.from([0x21, 0xfe, comment.length]), Buffer.from(comment), Buffer.from([0])]
  return Buffer.concat([head, table, ...said, ...Array.from({ length: frames }, () => picture), Buffer.from([0x3b])])
}

/** RIFF chunks behind those of a WebP. */
export function webpWith(webp: Buffer, type: string, data: Buffer | string): Buffer {
  const body = Buffer.from(data)
  const head = Buffer.alloc(8)
  head.write(type, 'latin1')
  head.writeUInt32LE(body.length, 4)
  const whole = Buffer.concat([webp, head, body, Buffer.alloc(body.length & 1)])
  whole.writeUInt32LE(whole.length - 8, 4)
  return whole
}
