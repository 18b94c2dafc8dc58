/**
 * A value now, or a promise of it. A chat of ordinary length is judged at once and its answer arrives as a whole, so most
 * steps of the funnel have nothing to wait for; a promise each would cost a turn of the microtask queue and its garbage
 * (together about a tenth of the proxy's own time, measured).
 */
export type MaybePromise<T> = T | Promise<T>

/** Goes on at once with what is known at once. */
export function andThen<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
