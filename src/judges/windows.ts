/** Long texts in pieces that a model takes: each token is in one of them, and what lies on a border in two. */

/** @param overlap less than `size` */
export function windowsOf(tokens: readonly number[], size: number, overlap: number): number[][] {
  const windows: number[][] = []
  for (let start = 0; start === 0 || start + overlap < tokens.length; start += size - overlap) {
    windows.push(tokens.slice(start, start + size))
  }
  return windows
}
