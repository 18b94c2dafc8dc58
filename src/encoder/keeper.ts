/** One encoder for all gateways of a process: weights are loaded anew only where the configuration or the files changed. */
import type { EncoderSettings } from '../base/settings.js'
import type { Encoder } from './index.js'
import { readEncoderFiles } from './manifest.js'
import { type EncoderDeps, type OpenEncoder, openEncoder } from './open.js'

interface Kept {
  key: string
  opening: Promise<OpenEncoder>
  opened?: OpenEncoder
  users: number
}

export class EncoderKeeper {
  readonly #deps: EncoderDeps
  #current: Kept | undefined

  constructor(deps: EncoderDeps) {
    this.#deps = deps
  }

  /** Each user closes it; the last close ends its threads. @throws as `openEncoder` */
  async open(settings: EncoderSettings): Promise<OpenEncoder> {
    const label = settings.use === 'off' ? '' : (await readEncoderFiles(settings.folder)).label
    const key = JSON.stringify([settings, label])
    let kept = this.#current
    if (kept?.key !== key || kept.users === 0) {
      kept = { key, opening: openEncoder(settings, this.#deps), users: 0 }
      this.#current = kept
    }
    const mine = kept
    mine.users++
    let opened: OpenEncoder
    try {
      opened = await mine.opening
      mine.opened = opened
    } catch (error) {
      mine.users = 0
      throw error
    }
    let closed: Promise<void> | undefined
    return {
      ...opened,
      close() {
        closed ??= --mine.users === 0 ? opened.close() : Promise.resolve()
        return closed
      }
    }
  }

  /** The one that was opened last. */
  get current(): Encoder | undefined {
    return this.#current?.opened?.encoder
  }

  /** Waiting tasks of the encoder that was opened last. */
  waiting(): number {
    return this.#current?.opened?.waiting() ?? 0
  }
}
