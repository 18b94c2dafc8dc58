/** How the cost of a call grows with its input, in CPU time of this process: what other load takes does not count. */

const attempts = 4

/** @returns the exponent over n, 2n and 4n: 1 where the cost is linear */
export function growth(call: (size: number) => unknown, n: number): number {
  const times = [n, 2 * n, 4 * n].map((size) =>
    Math.min(...Array.from({ length: attempts }, () => cost(() => call(size))))
  )
  return Math.log(times[2]! / times[0]!) / Math.log(4)
}

/** Microseconds; at least a hundred, below which a clock says nothing. */
function cost(call: () => unknown): number {
  const start = process.cpuUsage()
  call()
  const { user, system } = process.cpuUsage(start)
  return Math.max(100, user + system)
}
