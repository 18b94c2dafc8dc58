/** What of a pointer a client is told. */

/**
 * @param item matches the part of a pointer that names what a client can drop (one message)
 * @param names the dialect's own
 * @returns the place that a client is told: that part, or the pointer as far as its names are this API's own, since a name
 * that a caller made up could be the finding itself
 */
export function offenderBy(item: RegExp, names: ReadonlySet<string>): (pointer: string) => string {
  return (pointer) => {
    // Texts of a header or of the path are named by where they stand.
    if (!pointer.startsWith('/')) return pointer.split('/', 1)[0]!
    const match = item.exec(pointer)
    if (match !== null) return match[0]
    let known = ''
    for (const segment of pointer.split('/').slice(1)) {
      if (!names.has(segment) && !/^\d+$/.test(segment)) break
      known += `/${segment}`
    }
    return known
  }
}
