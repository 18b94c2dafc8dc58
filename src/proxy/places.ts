/**
 * Places of which there are only so many: the connections to one upstream, the turns of long events. Where all are taken,
 * keys take turns: whoever has many that wait gets one place for each that another key gets. Nobody waits for ever.
 */
import { Fault } from '../base/errors.js'
import type { Cancel } from './cancel.js'

/** Gives a place back, once however often it is called. */
export type LetGo = () => void

interface Waiter {
  begin(letGo: LetGo): void
}

export class Places {
  readonly #waitMs: number
  #free: number
  /** By lineage, in the order of their turns; of each in the order in which they came. */
  readonly #waiting = new Map<string, Set<Waiter>>()

  /**
   * @param most taken at once
   * @param waitMs how long to wait for one
   */
  constructor(most: number, waitMs: number) {
    this.#free = most
    this.#waitMs = waitMs
  }

  /**
   * At once where a place is free. Rejects with the reason of the cancel.
   * @throws Fault `overloaded` where none becomes free in time
   */
  take(lineage: string, cancel: Cancel): LetGo | Promise<LetGo> {
    if (cancel.reason !== undefined) return Promise.reject(cancel.reason)
    if (this.#free > 0) {
      this.#free--
      return this.#place()
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        forget()
        this.#leave(lineage, waiter)
      }
      const waiter: Waiter = {
        begin(letGo) {
          leave()
          resolve(letGo)
        }
      }
      const forget = cancel.onCancel((reason) => {
        leave()
        reject(reason)
      })
      const timer = setTimeout(() => {
        leave()
        const internal = 'no place became free in time'
        reject(new Fault('overloaded', { headers: { 'retry-after': '2' }, internal }))
      }, this.#waitMs)
      const own = this.#waiting.get(lineage)
      if (own === undefined) this.#waiting.set(lineage, new Set([waiter]))
      else own.add(waiter)
    })
  }

  #place(): LetGo {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#pass()
    }
  }

  /** To the key whose turn it is, which is then the last in turn. */
  #pass(): void {
    const [turn] = this.#waiting
    if (turn === undefined) {
      this.#free++
      return
    }
    const [lineage, own] = turn
    const [first] = own
    this.#waiting.delete(lineage)
    this.#waiting.set(lineage, own)
    first!.begin(this.#place())
  }

  #leave(lineage: string, waiter: Waiter): void {
    const own = this.#waiting.get(lineage)
    own?.delete(waiter)
    if (own?.size === 0) this.#waiting.delete(lineage)
  }
}
