/**
 * Runs Tesseract in WebAssembly (tesseract.js-core) in the reading process: no thread, no cache, no download. Its
 * Leptonica also decodes the pictures, so that one decoder handles the bytes.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { bounds, Unread } from '../../file.js'
import type { Box, Pixels, Plane } from './pixels.js'

/** The used part of Node's WebAssembly memory, which its types do not declare. */
interface Memory {
  readonly buffer: ArrayBuffer
}
interface Instance {
  exports: Record<string, unknown>
}
declare const WebAssembly: {
  Memory: new () => Memory
  instantiate(bytes: Buffer, imports: object): Promise<{ instance: Instance; module: unknown }>
}

/** The used part of tesseract.js-core 7, which has no types. */
interface Core {
  FS: { writeFile(path: string, data: Uint8Array): void }
  TessBaseAPI: new () => Api
  Pix: unknown
  wrapPointer(pointer: number, kind: unknown): unknown
  _malloc(size: number): number
  _free(pointer: number): void
  _pixReadMem(pointer: number, size: number): number
  _pixReadHeaderMem(pointer: number, size: number, ...outs: number[]): number
  _pixDestroy(pointer: number): void
  _emscripten_bind_Pix_get_data_0(pix: number): number
  _emscripten_bind_Pix_get_w_0(pix: number): number
  _emscripten_bind_Pix_get_h_0(pix: number): number
  _emscripten_bind_Pix_get_d_0(pix: number): number
  _emscripten_bind_Pix_get_wpl_0(pix: number): number
  _emscripten_bind_Pix_get_spp_0(pix: number): number
  _emscripten_bind_Pix_get_colormap_0(pix: number): number
  _emscripten_bind_PixColormap_get_array_0(map: number): number
  _emscripten_bind_PixColormap_get_n_0(map: number): number
}

interface Api {
  Init(path: string | null, languages: string, engine: number): number
  SetVariable(name: string, value: string): void
  SetPageSegMode(mode: number): void
  SetImage(pix: unknown): void
  SetSourceResolution(dots: number): void
  Recognize(monitor: null): number
  GetTSVText(page: number): string
  Clear(): void
}

/** One word, with the engine's confidence, 0 to 100. */
export interface Word {
  text: string
  sure: number
  box: Box
  /** Numbers of its paragraph and its line. */
  paragraph: string
  line: string
}

/** The LSTM engine; the language data supports no other. */
const lstm = 1
const entry = 'tesseract.js-core/tesseract-core-simd-lstm'

export class Engine {
  readonly #core: Core
  readonly #memory: Memory
  readonly #api: Api

  private constructor(core: Core, memory: Memory, api: Api) {
    this.#core = core
    this.#memory = memory
    this.#api = api
  }

  /** @param languages paths of `<code>.traineddata.gz` */
  static async open(languages: readonly string[]): Promise<Engine> {
    const require = createRequire(import.meta.url)
    let memory: Memory | undefined
    const options = {
      print: () => undefined,
      printErr: () => undefined,
      instantiateWasm(imports: object, done: (instance: Instance, module: unknown) => void) {
        void WebAssembly.instantiate(readFileSync(require.resolve(`${entry}.wasm`)), imports).then(
          ({ instance, module }) => {
            memory = Object.values(instance.exports).find((each) => each instanceof WebAssembly.Memory) as Memory
            done(instance, module)
          }
        )
        return {}
      }
    }
    const make = require(`${entry}.js`) as (options: object) => Promise<Core>
    const core = await make(options)
    const codes = languages.map((path) => basename(path).split('.', 1)[0]!)
    for (const [i, path] of languages.entries())
      core.FS.writeFile(`/${codes[i]}.traineddata`, gunzipSync(readFileSync(path)))
    const api = new core.TessBaseAPI()
    if (api.Init(null, codes.join('+'), lstm) !== 0) throw new Error(`no text recognition for ${codes.join(', ')}`)
    return new Engine(core, memory!, api)
  }

  /** @throws Unread `damaged`, `too_large` */
  decode(bytes: Buffer): Pixels {
    const core = this.#core
    const pointer = this.#put(bytes)
    let pix = 0
    try {
      const { width, height } = this.#headOf(pointer, bytes.length)
      if (width * height > bounds.pixels || Math.max(width, height) > bounds.side) throw new Unread('too_large')
      pix = core._pixReadMem(pointer, bytes.length)
      if (pix === 0) throw new Unread('damaged')
      const pixels = this.#pixelsOf(pix)
      if (pixels.width !== width || pixels.height !== height) throw new Unread('damaged')
      return pixels
    } finally {
      core._free(pointer)
      if (pix !== 0) this.#destroy(pix)
    }
  }

  #put(bytes: Uint8Array): number {
    const pointer = this.#core._malloc(bytes.length)
    if (pointer === 0) throw new Unread('too_large')
    new Uint8Array(this.#memory.buffer).set(bytes, pointer)
    return pointer
  }

  /** By its own variable: `pixDestroy` takes the place of a pointer. */
  #destroy(pix: number): void {
    const place = this.#core._malloc(4)
    new DataView(this.#memory.buffer).setUint32(place, pix, true)
    this.#core._pixDestroy(place)
    this.#core._free(place)
  }

  #headOf(pointer: number, size: number): { width: number; height: number } {
    const outs = this.#core._malloc(24)
    try {
      const places = [0, 4, 8, 12, 16, 20].map((offset) => outs + offset)
      if (this.#core._pixReadHeaderMem(pointer, size, ...places) !== 0) throw new Unread('damaged')
      const view = new DataView(this.#memory.buffer)
      return { width: view.getInt32(outs + 4, true), height: view.getInt32(outs + 8, true) }
    } finally {
      this.#core._free(outs)
    }
  }

  /** Leptonica packs rows into words of 32 bits, the first pixel in the highest. */
  #pixelsOf(pix: number): Pixels {
    const core = this.#core
    const width = core._emscripten_bind_Pix_get_w_0(pix)
    const height = core._emscripten_bind_Pix_get_h_0(pix)
    const depth = core._emscripten_bind_Pix_get_d_0(pix)
    const rowWords = core._emscripten_bind_Pix_get_wpl_0(pix)
    const words = new Uint32Array(this.#memory.buffer, core._emscripten_bind_Pix_get_data_0(pix), rowWords * height)
    const data = new Uint8Array(width * height * 4)
    const hasAlpha = depth === 32 && core._emscripten_bind_Pix_get_spp_0(pix) === 4
    const colours = depth < 32 ? this.#coloursOf(pix, depth) : undefined
    const mask = 2 ** depth - 1
    let isTransparent = false
    for (let y = 0, to = 0; y < height; y++) {
      for (let x = 0; x < width; x++, to += 4) {
        const bit = x * depth
        const word = words[y * rowWords + (bit >>> 5)]!
        const value = depth === 32 ? word : (word >>> (32 - depth - (bit & 31))) & mask
        const colour = colours === undefined ? value : colours[depth === 16 ? value >>> 8 : value]!
        data[to] = colour >>> 24
        data[to + 1] = colour >>> 16
        data[to + 2] = colour >>> 8
        const alpha = hasAlpha || colours !== undefined ? colour & 255 : 255
        data[to + 3] = alpha
        if (alpha !== 255) isTransparent = true
      }
    }
    return { width, height, data, isTransparent }
  }

  /** The palette of a picture, as `RRGGBBAA`. */
  #coloursOf(pix: number, depth: number): Uint32Array {
    const core = this.#core
    const map = core._emscripten_bind_Pix_get_colormap_0(pix)
    if (map === 0) {
      const most = 2 ** Math.min(depth, 8) - 1
      // One bit is ink.
      const grey = (value: number) => (depth === 1 ? 255 * (1 - value) : Math.round((255 * value) / most))
      return Uint32Array.from({ length: most + 1 }, (_, value) => ((grey(value) * 0x01010100) | 255) >>> 0)
    }
    const [array, count] = [
      core._emscripten_bind_PixColormap_get_array_0(map),
      core._emscripten_bind_PixColormap_get_n_0(map)
    ]
    const bytes = new Uint8Array(this.#memory.buffer, array, count * 4)
    const colours = new Uint32Array(2 ** Math.min(depth, 8)).fill(255)
    for (let i = 0; i < count; i++) {
      const [blue, green, red, alpha] = [bytes[4 * i]!, bytes[4 * i + 1]!, bytes[4 * i + 2]!, bytes[4 * i + 3]!]
      colours[i] = ((red << 24) | (green << 16) | (blue << 8) | alpha) >>> 0
    }
    return colours
  }

  /** @param mode page segmentation (Tesseract's `PageSegMode`) */
  read({ width, height, data }: Plane, mode: number): Word[] {
    const core = this.#core
    const head = Buffer.from(`P5\n${width} ${height}\n255\n`, 'latin1')
    const pointer = this.#put(Buffer.concat([head, data]))
    const pix = core._pixReadMem(pointer, head.length + data.length)
    core._free(pointer)
    if (pix === 0) throw new Unread('damaged')
    try {
      this.#api.SetPageSegMode(mode)
      this.#api.SetImage(core.wrapPointer(pix, core.Pix))
      if (this.#api.Recognize(null) !== 0) throw new Unread('reader_failed')
      return wordsOf(this.#api.GetTSVText(0))
    } finally {
      this.#api.Clear()
      this.#destroy(pix)
    }
  }
}

/** Rows of level 5 are words: level, page, block, paragraph, line, word, left, top, width, height, sureness, text. */
function wordsOf(table: string): Word[] {
  return table.split('\n').flatMap((row) => {
    const [level, , block, paragraph, line, , left, top, width, height, sure, text = ''] = row.split('\t')
    if (level !== '5' || text.trim() === '') return []
    const [x, y] = [Number(left), Number(top)]
    return [
      {
        text,
        sure: Number(sure),
        box: { left: x, top: y, right: x + Number(width), bottom: y + Number(height) },
        paragraph: `${block}.${paragraph}`,
        line: `${block}.${paragraph}.${line}`
      }
    ]
  })
}
