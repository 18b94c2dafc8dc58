/**
 * Ends one exchange at any phase, for one reason, once. An AbortController does the same at several times the cost, and
 * every exchange has one.
 */
export class Cancel {
  #reason: Error | undefined
  #listener: ((reason: Error) => void) | undefined
  #others: Set<(reason: Error) => void> | undefined

  /** Why the exchange was ended; undefined while it goes on. */
  get reason(): Error | undefined {
    return this.#reason
  }

  cancel(reason: Error): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#listener?.(reason)
    if (this.#others !== undefined) for (const listener of [...this.#others]) listener(reason)
  }

  /** The one transport that carries the exchange now is told; at once, where the exchange has ended already. */
  listen(listener: (reason: Error) => void): void {
    this.#listener = listener
    if (this.#reason !== undefined) listener(this.#reason)
  }

  /** Whoever else works for the exchange is told too, beside the transport. @returns what takes the listener off again */
  onCancel(listener: (reason: Error) => void): () => void {
    this.#others ??= new Set()
    this.#others.add(listener)
    return () => this.#others?.delete(listener)
  }

  /** Ends an exchange that takes longer than `ms` in all. @returns what stops the clock */
  after(ms: number, reason: () => Error): () => void {
    const timer = setTimeout(() => this.cancel(reason()), ms)
    return () => clearTimeout(timer)
  }
}
