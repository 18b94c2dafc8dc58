/** How the cost of a call grows with its input, in CPU time of this process: what other load takes does not count. */

/** The least of so many counts: what the collector of garbage takes falls on some calls and not on others. */
const attempts = 8

/** Measured anew so often where the cost seems to grow faster: that of collecting garbage does not fall on all sizes alike. */
const rounds = 3
const plainlyLinear = 1.3

/** @returns the exponent over n, 2n and 4n: 1 where the cost is linear */
export function growth(call: (size: number) => unknown, n: number): number {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds && least > plainlyLinear; round++) least = Math.min(least, measured(call, n))
  return least
}

function measured(call: (size: number) => unknown, n: number): number {
  const sizes = [n, 2 * n, 4 * n]
  const times = sizes.map(() => Number.POSITIVE_INFINITY)
  // In turn, so that a stretch in which garbage is collected falls on all sizes.
  for (let attempt = 0; attempt < attempts; attempt++)
    sizes.forEach((size, i) => {
      times[i] = Math.min(
        times[i]!,
        cost(() => call(size))
      )
    })
  return Math.log(times[2]! / times[0]!) / Math.log(4)
}

/** Microseconds; at least a hundred, below which a clock says nothing. */
function cost(call: () => unknown): number {
  const start = process.cpuUsage()
  call()
  const { user, system } = process.cpuUsage(start)
  return Math.max(100, user + system)
}
