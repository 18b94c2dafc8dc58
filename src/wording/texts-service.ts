/**
 * The service of texts that operators write over the API. They belong to the account that operates the gateway, like
 * constitutions. Every node reads a change within a second.
 */
import type { Clock } from '../base/clock.js'
import { Fault, invalid } from '../base/errors.js'
import {
  type Audience,
  audiences,
  checkTexts,
  type Occasion,
  occasions,
  type Sentence,
  type TextsSource
} from '../base/texts.js'
import type { Actor } from '../identity/caller.js'
import { type Category, categories } from '../policy/evaluation.js'
import type { AuditStore } from '../storage/contracts/index.js'
import type { TextsStore } from '../storage/contracts/questions.js'
import { shippedTexts } from './shipped.js'
import { spokenLanguages } from './wording.js'

export interface TextsServiceDeps {
  store: TextsStore
  /** The account that operates the gateway. */
  account: string
  audit: Pick<AuditStore, 'append'>
  clock: Clock
}

export interface TextsRecord {
  /** 0: nothing was written over the API yet. */
  version: number
  /** The texts written over the API. */
  texts: TextsSource
  changed_at: string | null
  changed_by: string | null
}

/** A sentence in use. */
export interface InUse {
  audience: Audience
  occasion: Occasion | 'any'
  category: Category | 'default'
  text: string
  /** Its source. */
  from: 'configuration' | 'api' | 'shipped'
}

/** Longest age of cached texts, ms. */
const freshMs = 1000
/** UTF-8 bytes of all texts. */
const maxBytes = 256 * 1024

export class TextsService {
  readonly #deps: TextsServiceDeps
  #known: TextsSource | undefined
  #readAt = Number.NEGATIVE_INFINITY

  constructor(deps: TextsServiceDeps) {
    this.#deps = deps
  }

  /** The present texts; without the storage, the last known ones. */
  readonly current = async (): Promise<TextsSource | undefined> => {
    const { store, account, clock } = this.#deps
    if (clock.monotonic() - this.#readAt < freshMs) return this.#known
    this.#readAt = clock.monotonic()
    try {
      const row = await store.get(account)
      this.#known = row === undefined ? undefined : (JSON.parse(row.source) as TextsSource)
    } catch {
      // Old sentences are better than none.
    }
    return this.#known
  }

  async get(actor: Actor): Promise<TextsRecord> {
    this.#own(actor)
    const row = await this.#deps.store.get(this.#deps.account)
    if (row === undefined) return { version: 0, texts: {}, changed_at: null, changed_by: null }
    const { version, source, changedAt, changedBy } = row
    return {
      version,
      texts: JSON.parse(source),
      changed_at: new Date(changedAt).toISOString(),
      changed_by: changedBy
    }
  }

  /**
   * @param version the edited version, to detect concurrent changes
   * @throws Fault `validation_error` at the first place that is refused, `active_changed` where another change was
   * faster
   */
  async put(actor: Actor, texts: unknown, version: number | undefined): Promise<TextsRecord> {
    this.#own(actor)
    checkTexts(texts, (path, reason) => {
      throw invalid(['texts', ...path].join('.'), 'invalid_format', `${['texts', ...path].join('.')} ${reason}.`)
    })
    const source = JSON.stringify(texts)
    if (Buffer.byteLength(source) > maxBytes) {
      throw invalid('texts', 'too_long', `texts must not exceed ${maxBytes} bytes.`)
    }
    const { store, account, audit, clock } = this.#deps
    const standing = (await store.get(account))?.version ?? 0
    const by = actor.keyId ?? 'command'
    const row = { account, version: standing + 1, source, changedAt: clock.now(), changedBy: by }
    if ((version !== undefined && version !== standing) || !(await store.put(row))) {
      throw new Fault('active_changed', { message: `The texts are at version ${standing} by now: read them again.` })
    }
    this.#readAt = Number.NEGATIVE_INFINITY
    const data = { version: row.version }
    audit.append({
      at: row.changedAt,
      kind: 'texts.changed',
      account,
      keyId: actor.keyId ?? null,
      subject: 'texts',
      data
    })
    return this.get(actor)
  }

  /** The available languages, including those that operators added. */
  languages(configured: TextsSource | undefined, stored: TextsSource): string[] {
    return spokenLanguages([configured, stored].filter((texts) => texts !== undefined))
  }

  /** Only the operating account sees them, as with constitutions. */
  #own({ accountId }: Actor): void {
    if (accountId !== this.#deps.account) throw new Fault('not_found')
  }
}

/** Every sentence in use in a language, with its source; a constitution's own take precedence. */
export function inUse(language: string, configured: TextsSource | undefined, stored: TextsSource): InUse[] {
  const layers = [
    { from: 'configuration' as const, texts: configured?.languages?.[language] },
    { from: 'api' as const, texts: stored.languages?.[language] },
    { from: 'shipped' as const, texts: shippedTexts(language) }
  ]
  const found: InUse[] = []
  for (const audience of audiences) {
    for (const occasion of ['any', ...occasions] as const) {
      for (const category of ['default', ...categories] as const) {
        for (const { from, texts } of layers) {
          const text = textOf(texts?.[audience]?.[occasion], category)
          if (text === undefined) continue
          found.push({ audience, occasion, category, text, from })
          break
        }
      }
    }
  }
  return found
}

function textOf(sentence: Sentence | undefined, category: Category | 'default'): string | undefined {
  if (typeof sentence === 'string') return category === 'default' ? sentence : undefined
  return sentence?.[category]
}
