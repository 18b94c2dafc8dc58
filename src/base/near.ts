/** The accepted names nearest to a mistyped one. */

/** Most names that are told. */
const most = 3
/** Longer names are cut: the time of a comparison grows with the square of the length. */
const longest = 64

/** @returns at most three, nearest first; none where all differ in more than a third of their letters. Linear in the list */
export function nearest(given: string, accepted: Iterable<string>): string[] {
  const wanted = given.slice(0, longest).toLowerCase()
  const near: { name: string; distance: number }[] = []
  for (const name of accepted) {
    const bound = Math.max(1, Math.floor(Math.max(wanted.length, name.length) / 3))
    if (Math.abs(wanted.length - name.length) > bound) continue
    const distance = distanceOf(wanted, name.slice(0, longest).toLowerCase())
    if (distance > bound) continue
    const place = near.findIndex((one) => one.distance > distance)
    near.splice(place < 0 ? near.length : place, 0, { name, distance })
    near.length = Math.min(near.length, most)
  }
  return near.map(({ name }) => name)
}

/** A hint to end a message with; empty where no name is near. */
export function nearestHint(given: string, accepted: Iterable<string>): string {
  const names = nearest(given, accepted).map((name) => `"${name}"`)
  return names.length === 0 ? '' : `; did you mean ${names.join(' or ')}?`
}

/** Inserted, dropped and changed letters, and neighbours that have changed places. */
function distanceOf(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? before[j - 2]! + 1 : changed
      row.push(Math.min(changed, swapped, last[j]! + 1, row[j - 1]! + 1))
    }
    before = last
    last = row
  }
  return last[b.length]!
}
