/** Divides long texts into windows that overlap, so that text at a border is whole in one of them. */

/** @param overlap less than `size` */
export function windowsOf(tokens: readonly number[], size: number, overlap: number): number[][] {
  const windows: number[][] = []
  for (let start = 0; start === 0 || start + overlap < tokens.length; start += size - overlap) {
    windows.push(tokens.slice(start, start + size))
  }
  return windows
}
