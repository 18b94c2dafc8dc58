/** Shortens pointers for clients. */

/**
 * @param item matches the part of a pointer that names one message, which a client can drop
 * @param names the dialect's own
 * @returns the pointer for the client: that part, or the leading segments with names of this API, since a name that the
 * caller invented could be the finding itself
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
