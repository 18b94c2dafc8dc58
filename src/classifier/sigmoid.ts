/**
 * The logistic function from additions and multiplications only: engines differ in the last bits of `Math.exp`, and a
 * trained model must be identical to the byte everywhere.
 */
const log2e = Math.LOG2E
const ln2 = Math.LN2

export function sigmoid(x: number): number {
  return 1 / (1 + exp(-x))
}

function exp(x: number): number {
  if (x > 40) return exp(40)
  if (x < -40) return exp(-40)
  const power = Math.round(x * log2e)
  const rest = x - power * ln2
  // Taylor's series within half of ln 2: 1e-15 after twelve terms.
  let sum = 1
  for (let i = 12; i > 0; i--) sum = 1 + (rest / i) * sum
  return sum * 2 ** power
}
