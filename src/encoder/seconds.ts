/** The classifier's scores of the windows that the encoder reads, for groups that use them (`calibration.ts`). */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { lanes } from '../classifier/lanes.js'
import { shippedScorer } from '../classifier/shipped.js'
import { Folder } from '../text/fold.js'

export class Seconds {
  /** By the digest of the words: histories come again with each turn, and streams with each sentence. */
  readonly #known: LRUCache<string, Float32Array>
  readonly #folder = new Folder()

  constructor(most: number) {
    this.#known = new LRUCache({ max: most })
  }

  /**
   * Takes some 40 µs for a window, on the calling thread. @returns scores by lane of the classifier, before its own
   * calibration
   */
  of(words: string): Float32Array {
    const key = createHash('sha256').update(words).digest('base64')
    let scores = this.#known.get(key)
    if (scores === undefined) {
      const scorer = shippedScorer().score(this.#folder.fold(words), words)
      scores = Float32Array.from(lanes, (_, lane) => scorer.strongest(lane))
      this.#known.set(key, scores)
    }
    return scores
  }
}
