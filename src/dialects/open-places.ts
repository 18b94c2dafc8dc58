/** The open places of a stream, searched by prefixes of their pointers. Each place is closed only once. */

interface Place<T> {
  value: T | undefined
  below: Map<string, Place<T>> | undefined
}

export class OpenPlaces<T> {
  #root: Place<T> = { value: undefined, below: undefined }

  /** @param pointer RFC 6901 */
  add(pointer: string, value: T): void {
    let place = this.#root
    for (const segment of pointer.split('/')) {
      place.below ??= new Map()
      let next = place.below.get(segment)
      if (next === undefined) {
        next = { value: undefined, below: undefined }
        place.below.set(segment, next)
      }
      place = next
    }
    place.value = value
  }

  /**
   * Removes the place of a pointer and all places below it.
   * @param prefix a pointer; with a slash at its end only what is below it; empty or `/`: all
   */
  take(prefix: string): T[] {
    const taken: T[] = []
    const segments = prefix.split('/')
    const isBelow = segments.at(-1) === ''
    if (isBelow) segments.pop()
    let parent: Place<T> | undefined
    let place = this.#root
    for (const segment of segments) {
      parent = place
      const next = place.below?.get(segment)
      if (next === undefined) return taken
      place = next
    }
    const own = place.value
    if (isBelow) place.value = undefined
    collect(place, taken)
    place.below = undefined
    place.value = isBelow ? own : undefined
    if (place.value === undefined && parent !== undefined) parent.below!.delete(segments.at(-1)!)
    return taken
  }
}

function collect<T>({ value, below }: Place<T>, into: T[]): void {
  if (value !== undefined) into.push(value)
  if (below !== undefined) for (const place of below.values()) collect(place, into)
}
