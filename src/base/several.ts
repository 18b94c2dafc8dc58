/** Works on the items in their order, at most `most` at a time; after a failure none is begun. @returns in the order of the items */
export async function severalAtOnce<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>
): Promise<R[]> {
  const results: R[] = []
  let next = 0
  let failed = false
  const line = async () => {
    while (next < items.length && !failed) {
      const at = next++
      try {
        results[at] = await work(items[at]!)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, line))
  return results
}
