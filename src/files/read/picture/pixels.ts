/**
 * Image processing for OCR: planes of grey, and filters that make letters stand out. Every step is linear in the
 * pixels.
 */

export interface Plane {
  width: number
  height: number
  /** 0 black to 255 white, row by row. */
  data: Uint8Array
}

/** Red, green, blue and opacity, byte by byte. */
export interface Pixels {
  width: number
  height: number
  data: Uint8Array
  /** Whether any pixel is transparent. */
  isTransparent: boolean
}

/** Most pixels that are read: models get no larger picture. */
export const mostRead = 2_500_000
/** The side of a tile. */
export const tile = 16

/** Background for transparent pixels: white, black, or their own hidden colours. */
export type Ground = 'white' | 'black' | 'none'

/** Lightness by Rec. 601, scaled down to `mostRead`. */
export function greyOf(pixels: Pixels, ground: Ground): Plane {
  const { width, height, data } = pixels
  const grey = new Uint8Array(width * height)
  const back = ground === 'white' ? 255 : 0
  const isMixed = pixels.isTransparent && ground !== 'none'
  for (let i = 0, at = 0; i < grey.length; i++, at += 4) {
    const light = (77 * data[at]! + 150 * data[at + 1]! + 29 * data[at + 2]!) >> 8
    grey[i] = isMixed ? back + ((light - back) * data[at + 3]!) / 255 : light
  }
  return atMost({ width, height, data: grey }, mostRead)
}

/** A plane of colour difference: red against green, or blue against yellow, around the middle. */
export function colourOf({ width, height, data }: Pixels, kind: 'red' | 'blue'): Plane {
  const plane = new Uint8Array(width * height)
  for (let i = 0, at = 0; i < plane.length; i++, at += 4) {
    const [red, green, blue] = [data[at]!, data[at + 1]!, data[at + 2]!]
    plane[i] = 128 + ((kind === 'red' ? red - green : blue - ((red + green) >> 1)) >> 1)
  }
  return atMost({ width, height, data: plane }, mostRead)
}

/** Scales down to at most `most` pixels, each the mean of its source pixels. */
export function atMost(plane: Plane, most: number): Plane {
  const { width, height, data } = plane
  if (width * height <= most) return plane
  const by = Math.sqrt((width * height) / most)
  const [w, h] = [Math.max(1, Math.floor(width / by)), Math.max(1, Math.floor(height / by))]
  const sums = new Uint32Array(w * h)
  const counts = new Uint32Array(w * h)
  for (let y = 0; y < height; y++) {
    const row = Math.min(h - 1, Math.floor((y * h) / height)) * w
    for (let x = 0; x < width; x++) {
      const at = row + Math.min(w - 1, Math.floor((x * w) / width))
      sums[at]! += data[y * width + x]!
      counts[at]!++
    }
  }
  return { width: w, height: h, data: Uint8Array.from(sums, (sum, i) => sum / counts[i]!) }
}

/** Doubles the size, with interpolated pixels. */
export function twice({ width, height, data }: Plane): Plane {
  const [w, h] = [width * 2, height * 2]
  const out = new Uint8Array(w * h)
  for (let y = 0; y < h; y++) {
    const top = (y >> 1) * width
    const below = Math.min(height - 1, (y + 1) >> 1) * width
    for (let x = 0; x < w; x++) {
      const left = x >> 1
      const right = Math.min(width - 1, (x + 1) >> 1)
      out[y * w + x] = (data[top + left]! + data[top + right]! + data[below + left]! + data[below + right]!) >> 2
    }
  }
  return { width: w, height: h, data: out }
}

/** @param quarters of a turn, clockwise */
export function turned({ width, height, data }: Plane, quarters: 1 | 2 | 3): Plane {
  const [w, h] = quarters === 2 ? [width, height] : [height, width]
  const out = new Uint8Array(data.length)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const to =
        quarters === 1 ? x * w + (w - 1 - y) : quarters === 2 ? (h - 1 - y) * w + (w - 1 - x) : (h - 1 - x) * w + y
      out[to] = data[y * width + x]!
    }
  }
  return { width: w, height: h, data: out }
}

export interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

export function cut({ width, data }: Plane, { left, top, right, bottom }: Box): Plane {
  const [w, h] = [right - left, bottom - top]
  const out = new Uint8Array(w * h)
  for (let y = 0; y < h; y++) out.set(data.subarray((top + y) * width + left, (top + y) * width + right), y * w)
  return { width: w, height: h, data: out }
}

/** Tiles of a plane, each set or not. */
export interface Tiles {
  columns: number
  rows: number
  set: Uint8Array
}

function tilesOf({ width, height }: Plane): Tiles {
  const [columns, rows] = [Math.ceil(width / tile), Math.ceil(height / tile)]
  return { columns, rows, set: new Uint8Array(columns * rows) }
}

export const countOf = ({ set }: Tiles) => set.reduce((sum, each) => sum + each, 0)

/** Least difference of lightness within a tile with visible content. */
export const plain = 48

/** Tiles with visible content. */
export function busyTiles(plane: Plane): Tiles {
  const tiles = tilesOf(plane)
  forTiles(plane, tiles, (at, low, high) => {
    if (high - low >= plain) tiles.set[at] = 1
  })
  return tiles
}

function forTiles(plane: Plane, { columns, rows }: Tiles, take: (at: number, low: number, high: number) => void): void {
  const { width, height, data } = plane
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      let low = 255
      let high = 0
      const right = Math.min(width, (column + 1) * tile)
      const bottom = Math.min(height, (row + 1) * tile)
      for (let y = row * tile; y < bottom; y++) {
        for (let at = y * width + column * tile, end = y * width + right; at < end; at++) {
          const value = data[at]!
          if (value < low) low = value
          if (value > high) high = value
        }
      }
      take(row * columns + column, low, high)
    }
  }
}

/** Clears the tiles under a box. */
export function leaveOut({ columns, rows, set }: Tiles, { left, top, right, bottom }: Box): void {
  const last = Math.min(columns - 1, Math.floor(right / tile))
  for (let row = Math.max(0, Math.floor(top / tile)); row <= Math.min(rows - 1, Math.floor(bottom / tile)); row++) {
    for (let column = Math.max(0, Math.floor(left / tile)); column <= last; column++) set[row * columns + column] = 0
  }
}

/** The box around all tiles that are set, with one more around them. */
export function around({ columns, rows, set }: Tiles, { width, height }: Plane): Box {
  let [left, top, right, bottom] = [columns, rows, 0, 0]
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      if (set[row * columns + column] === 0) continue
      left = Math.min(left, column)
      right = Math.max(right, column + 1)
      top = Math.min(top, row)
      bottom = Math.max(bottom, row + 1)
    }
  }
  return {
    left: Math.max(0, (left - 1) * tile),
    top: Math.max(0, (top - 1) * tile),
    right: Math.min(width, (right + 1) * tile),
    bottom: Math.min(height, (bottom + 1) * tile)
  }
}

/** The plane with white boxes. */
export function without(plane: Plane, boxes: readonly Box[]): Plane {
  const { width, height } = plane
  const data = Uint8Array.from(plane.data)
  for (const { left, top, right, bottom } of boxes) {
    for (let y = Math.max(0, top); y < Math.min(height, bottom); y++)
      data.fill(255, y * width + Math.max(0, left), y * width + Math.min(width, right))
  }
  return { width, height, data }
}

/** Radius of the mean against which a pixel counts as light or dark. */
const reach = 12

/** A plane, and its threshold above noise. */
export interface Channel {
  plane: Plane
  floor: number
}

/**
 * Content of low contrast, dark on white, all else white; each tile comes from the channel that shows it best. Letters
 * are thin: they differ more from their surroundings than the surroundings from them, whichever is darker.
 * @param channels of one size; the first is of lightness
 */
export function faintOf(channels: readonly Channel[]): { plane: Plane; tiles: Tiles } {
  const { width, height } = channels[0]!.plane
  const tiles = tilesOf(channels[0]!.plane)
  const { columns, rows, set } = tiles
  const busy = busyTiles(channels[0]!.plane)
  const strong = busy.set
  const out = new Uint8Array(width * height).fill(255)
  const best = new Float32Array(set.length)
  for (const { plane, floor } of channels) {
    const { data } = plane
    const mean = blurred(plane, reach, busy)
    const { darker, lighter } = peaksOf(plane, mean, columns, set.length)
    for (let at = 0; at < set.length; at++) {
      if (strong[at] === 1) continue
      const row = Math.floor(at / columns)
      const column = at % columns
      // With its neighbours, so that a letter over two tiles is drawn whole.
      let [dark, light] = [0, 0]
      for (let y = Math.max(0, row - 1); y <= Math.min(rows - 1, row + 1); y++) {
        for (let i = y * columns + Math.max(0, column - 1); i <= y * columns + Math.min(columns - 1, column + 1); i++) {
          if (strong[i] === 1) continue
          dark = Math.max(dark, darker[i]!)
          light = Math.max(light, lighter[i]!)
        }
      }
      const peak = Math.max(dark, light)
      if (peak < floor || peak / floor <= best[at]!) continue
      best[at] = peak / floor
      if (Math.max(darker[at]!, lighter[at]!) >= floor) set[at] = 1
      const sign = dark >= light ? -1 : 1
      const right = Math.min(width, (column + 1) * tile)
      for (let y = row * tile; y < Math.min(height, (row + 1) * tile); y++) {
        for (let i = y * width + column * tile; i < y * width + right; i++) {
          const part = (sign * (data[i]! - mean[i]!)) / peak
          out[i] = part <= 0 ? 255 : 255 - 255 * Math.min(1, part)
        }
      }
    }
  }
  return { plane: { width, height, data: out }, tiles }
}

/** By tile, the difference of its darkest and lightest pixel from their surroundings. */
function peaksOf({ width, height, data }: Plane, mean: Float32Array, columns: number, count: number) {
  const [darker, lighter] = [new Float32Array(count), new Float32Array(count)]
  for (let y = 0; y < height; y++) {
    const row = Math.floor(y / tile) * columns
    for (let x = 0; x < width; x++) {
      const at = row + Math.floor(x / tile)
      const difference = data[y * width + x]! - mean[y * width + x]!
      if (-difference > darker[at]!) darker[at] = -difference
      else if (difference > lighter[at]!) lighter[at] = difference
    }
  }
  return { darker, lighter }
}

/** The mean of a square around each pixel, by summed areas; pixels with visible content do not count. */
function blurred({ width, height, data }: Plane, by: number, { columns, set }: Tiles): Float32Array {
  const sums = new Float64Array((width + 1) * (height + 1))
  const counts = new Uint32Array(sums.length)
  for (let y = 0; y < height; y++) {
    const tiles = Math.floor(y / tile) * columns
    let [row, count] = [0, 0]
    for (let x = 0; x < width; x++) {
      if (set[tiles + Math.floor(x / tile)] === 0) {
        row += data[y * width + x]!
        count++
      }
      const at = (y + 1) * (width + 1) + x + 1
      sums[at] = sums[at - width - 1]! + row
      counts[at] = counts[at - width - 1]! + count
    }
  }
  const out = new Float32Array(data.length)
  for (let y = 0; y < height; y++) {
    const [top, bottom] = [Math.max(0, y - by) * (width + 1), Math.min(height, y + by + 1) * (width + 1)]
    for (let x = 0; x < width; x++) {
      const [left, right] = [Math.max(0, x - by), Math.min(width, x + by + 1)]
      const count = counts[bottom + right]! - counts[top + right]! - counts[bottom + left]! + counts[top + left]!
      const sum = sums[bottom + right]! - sums[top + right]! - sums[bottom + left]! + sums[top + left]!
      out[y * width + x] = count === 0 ? data[y * width + x]! : sum / count
    }
  }
  return out
}

/** Difference of lightness up to which a pixel belongs to the background. */
const slight = 32

/**
 * Thin marks that are darker (or lighter) than their surroundings, dark on white, over any background: the top-hat
 * transform of morphology, with the width of a stroke.
 */
export function strokesOf({ width, height, data }: Plane, ink: 'dark' | 'light'): Plane {
  const own = ink === 'dark' ? data : data.map((value) => 255 - value)
  const filled = extremes(extremes(own, width, height, true), width, height, false)
  const dark = own.map((value, i) => 255 - Math.min(255, Math.max(0, 3 * (filled[i]! - value - slight))))
  return { width, height, data: dark }
}

/** Half width of a letter's stroke, pixels. */
const stroke = 8

/** The most, or the least, within a square around each pixel: along the rows, then along the columns. */
function extremes(data: Uint8Array, width: number, height: number, isMost: boolean): Uint8Array {
  const rows = new Uint8Array(data.length)
  for (let y = 0; y < height; y++) alongLine(data, rows, y * width, 1, width, isMost)
  const out = new Uint8Array(data.length)
  for (let x = 0; x < width; x++) alongLine(rows, out, x, width, height, isMost)
  return out
}

/** Keeps a list of candidates without a later better one, so that each pixel is visited twice at most. */
function alongLine(
  from: Uint8Array,
  to: Uint8Array,
  start: number,
  step: number,
  length: number,
  isMost: boolean
): void {
  const open = new Int32Array(length)
  let [first, end] = [0, 0]
  for (let i = 0; i < length + stroke; i++) {
    if (i < length) {
      const value = from[start + i * step]!
      while (end > first) {
        const last = from[start + open[end - 1]! * step]!
        if (isMost ? last > value : last < value) break
        end--
      }
      open[end++] = i
    }
    const at = i - stroke
    if (at < 0) continue
    while (open[first]! < at - stroke) first++
    to[start + at * step] = from[start + open[first]! * step]!
  }
}
