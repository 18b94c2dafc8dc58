/** Detects and levels slanted lines of text. */
import { type Plane, plain } from './pixels.js'

export interface Slant {
  /** With white around it. */
  level: Plane
  /** From the place of a pixel to the one that it came from. */
  back(x: number, y: number): readonly [x: number, y: number]
}

/** Rotates back by so many degrees, so that lines of this slant become level. */
export function levelled({ width, height, data }: Plane, degrees: number): Slant {
  const angle = (degrees * Math.PI) / 180
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
  const w = Math.ceil(width * cos + height * Math.abs(sin))
  const h = Math.ceil(height * cos + width * Math.abs(sin))
  const back = (x: number, y: number) => {
    const [dx, dy] = [x - w / 2, y - h / 2]
    return [dx * cos - dy * sin + width / 2, dx * sin + dy * cos + height / 2] as const
  }
  const out = new Uint8Array(w * h).fill(255)
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) {
      const [fromX, fromY] = back(x, y)
      const [left, top] = [Math.floor(fromX), Math.floor(fromY)]
      if (left < 0 || top < 0 || left >= width - 1 || top >= height - 1) continue
      const [u, v] = [fromX - left, fromY - top]
      const at = top * width + left
      const above = data[at]! * (1 - u) + data[at + 1]! * u
      const below = data[at + width]! * (1 - u) + data[at + width + 1]! * u
      out[y * w + x] = above * (1 - v) + below * v
    }
  }
  return { level: { width: w, height: h, data: out }, back }
}

/** Largest tried angle and step, degrees; distance of sampled pixels; most positions. */
const slants = { most: 45, step: 2.5, pixels: 2, places: 250_000 }
/** Smaller slants are read unchanged. */
const leastSlant = 2.5
/** How much clearer than level the lines must be. */
const clearer = 1.1

/**
 * The slant of a text's lines in degrees: the angle at which the content falls into the fewest rows; undefined where
 * that is level, or no angle stands out.
 */
export function slantOf({ width, height, data }: Plane): number | undefined {
  const xs: number[] = []
  const ys: number[] = []
  const { most, step } = slants
  const pixels = Math.max(slants.pixels, Math.ceil(Math.sqrt((width * height) / slants.places)))
  for (let y = 0; y < height - pixels; y += pixels) {
    for (let x = 0; x < width; x += pixels) {
      if (Math.abs(data[y * width + x]! - data[(y + pixels) * width + x]!) < plain) continue
      xs.push(x)
      ys.push(y)
    }
  }
  const rows = new Float64Array(2 * Math.ceil((width + height) / 4) + 2)
  const middle = rows.length / 2
  const sharpness = (degrees: number) => {
    const angle = (degrees * Math.PI) / 180
    const [cos, sin] = [Math.cos(angle) / 4, Math.sin(angle) / 4]
    rows.fill(0)
    for (let i = 0; i < xs.length; i++) rows[Math.floor(middle + ys[i]! * cos - xs[i]! * sin)]!++
    return rows.reduce((sum, count) => sum + count * count, 0)
  }
  const level = sharpness(0)
  let [best, found] = [0, level * clearer]
  for (let degrees = -most; degrees <= most; degrees += step) {
    const each = sharpness(degrees)
    if (each > found) [best, found] = [degrees, each]
  }
  return Math.abs(best) < leastSlant ? undefined : best
}
