/**
 * Pins: the definitions of a server as they were permitted. A changed definition waits for a reviewer, who sees the
 * changes; until the permit, the definition is withheld and its tool may not be called.
 */
import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Json, JsonObject } from '../../base/chat.js'
import type { Clock } from '../../base/clock.js'
import { isObject, pointerSegment } from '../../dialects/rewrite.js'
import { canonicalJson } from '../../json/canonical.js'
import type { Evaluation } from '../../policy/evaluation.js'
import { type Seal, sealedFor } from '../../sealing/seal.js'
import type { PinKind, PinRow, PinStore } from '../../storage/contracts/pins.js'
import type { Reviews } from '../review.js'

/** Most pins of one server; further definitions are withheld. */
const mostPins = 4096
const findAtOnce = 500
const addAtOnce = 100
/** Places of a difference that a person is shown. */
const mostChanges = 200
const namesMs = 10_000
const mostNames = 20_000

/** One definition of a server, as it came. */
export interface Definition {
  kind: PinKind
  name: string
  /** Canonical JSON. */
  text: string
  digest: string
}

export interface Owner {
  account: string
  server: string
}

/** Why a person is asked. */
export type Occasion = 'definition_changed' | 'definition_new' | 'definition_doubtful' | 'definition_look_alike'

export interface PinsDeps {
  pins: PinStore
  reviews: Pick<Reviews, 'open' | 'consume'>
  seal: Seal
  clock: Pick<Clock, 'now' | 'monotonic'>
  /** Called when a definition begins to wait. */
  waits(owner: Owner, kind: PinKind, occasion: Occasion, reviewId: string | undefined): void
}

export class Pins {
  readonly #deps: PinsDeps
  readonly #names = new Map<string, { at: number; names: Promise<{ server: string; name: string }[]> }>()

  constructor(deps: PinsDeps) {
    this.#deps = deps
  }

  /** By the id of the pin. */
  async find(owner: Owner, definitions: readonly Pick<Definition, 'kind' | 'name'>[]): Promise<Map<string, PinRow>> {
    const ids = definitions.map((definition) => pinIdOf(owner, definition))
    const found = new Map<string, PinRow>()
    for (let at = 0; at < ids.length; at += findAtOnce) {
      for (const row of await this.#deps.pins.find(ids.slice(at, at + findAtOnce))) found.set(row.pinId, row)
    }
    return found
  }

  /** The tools of other servers, as they were lately. */
  async otherTools({ account, server }: Owner): Promise<readonly { server: string; name: string }[]> {
    const now = this.#deps.clock.monotonic()
    let known = this.#names.get(account)
    if (known === undefined || now - known.at > namesMs) {
      known = { at: now, names: this.#deps.pins.toolNames(account, mostNames) }
      if (this.#names.size > 1000) this.#names.clear()
      this.#names.set(account, known)
      known.names.catch(() => this.#names.delete(account))
    }
    return (await known.names).filter((tool) => tool.server !== server)
  }

  /** Pins new definitions. @returns the stored pins, without those for which there was no room */
  async add(owner: Owner, definitions: readonly Definition[]): Promise<Map<string, PinRow>> {
    const stored: PinRow[] = []
    this.#names.delete(owner.account)
    // Sealed a few at a time: thousands at once would block other requests.
    for (let at = 0; at < definitions.length; at += addAtOnce) {
      const some = definitions.slice(at, at + addAtOnce)
      const rows = some.map((definition) => this.#holding(this.#empty(owner, definition), definition, false))
      const added = await this.#deps.pins.add(rows, mostPins)
      if (added.length === 0) break
      stored.push(...added)
      await setImmediate()
    }
    return new Map(stored.map((row) => [row.pinId, row]))
  }

  /** Called when a server sends the pinned definition again: nothing waits any more. */
  async settle(row: PinRow): Promise<void> {
    if (row.pendingDigest === null) return
    await this.#deps.pins.replace(
      { ...row, pendingDigest: null, sealedPending: null, changedAt: this.#deps.clock.now() },
      row
    )
  }

  /**
   * Opens a review of a definition, unless a person has permitted it.
   * @param row its pin; undefined: none yet
   * @returns whether it holds from now on; else the review, where one could be opened
   */
  async ask(
    owner: Owner,
    row: PinRow | undefined,
    definition: Definition,
    why: { occasion: Occasion; policy: string; evaluation?: Evaluation | undefined }
  ): Promise<{ holds: true } | { holds: false; reviewId: string | undefined }> {
    const { pins, reviews } = this.#deps
    const standing = row ?? this.#empty(owner, definition)
    const subject = this.#subject(owner, standing, definition)
    if ((await reviews.consume(subject)) === 'permitted') {
      const permitted = this.#holding(standing, definition, true)
      if (row === undefined) await pins.add([permitted], mostPins)
      else await pins.replace(permitted, row)
      return { holds: true }
    }
    const { occasion, policy, evaluation } = why
    const { risk_score = 0, matched_rules = [], detections = [] } = evaluation ?? {}
    const verdict = { risk_score, matched_rules: [...matched_rules, occasion], detections }
    const { reviewId } = await reviews.open({ ...subject, keyId: hand(owner), policy, evaluation: verdict })
    if (standing.pendingDigest !== definition.digest || row === undefined) {
      this.#names.delete(owner.account)
      const sealedPending = this.#sealed(standing.pinId, 'pending', definition.text)
      const changedAt = this.#deps.clock.now()
      const pending = { ...standing, pendingDigest: definition.digest, sealedPending, changedAt }
      if (row === undefined) await pins.add([pending], mostPins)
      else await pins.replace(pending, row)
      this.#deps.waits(owner, definition.kind, occasion, reviewId)
    }
    return { holds: false, reviewId }
  }

  /**
   * Whether the tool, prompt or resource of a definition may be used.
   * @returns the definition that holds; undefined where there is none; or the review that it waits for
   */
  async standing(
    owner: Owner,
    of: Pick<Definition, 'kind' | 'name'>,
    policy: string
  ): Promise<{ definition: Json } | { reviewId: string | undefined } | undefined> {
    const row = (await this.find(owner, [of])).get(pinIdOf(owner, of))
    if (row === undefined) return undefined
    if (row.pendingDigest !== null && row.sealedPending !== null) {
      const text = this.#opened(row.pinId, 'pending', row.sealedPending)
      const definition = { ...of, text, digest: row.pendingDigest }
      const asked = await this.ask(owner, row, definition, { occasion: 'definition_changed', policy })
      return asked.holds ? { definition: JSON.parse(text) } : { reviewId: asked.reviewId }
    }
    if (row.digest === '' || row.sealedDefinition === null) return undefined
    return { definition: JSON.parse(this.#opened(row.pinId, 'definition', row.sealedDefinition)) }
  }

  /** The subject of the review: the text that a person sees and that the permit covers. */
  #subject({ account, server }: Owner, row: PinRow, { kind, name, text }: Definition) {
    const was = row.sealedDefinition === null ? null : this.#opened(row.pinId, 'definition', row.sealedDefinition)
    const is: Json = JSON.parse(text)
    const before: Json = was === null ? null : JSON.parse(was)
    const difference: JsonObject[] = []
    if (was !== null) compare(before, is, '', difference)
    const shown = { server, kind, name, difference, is, was: before }
    return {
      surface: 'mcp_definition' as const,
      account,
      lineage: hand({ account, server }),
      route: `/mcp/${server}`,
      canonical: Buffer.from(canonicalJson(shown))
    }
  }

  #empty({ account, server }: Owner, { kind, name }: Definition): PinRow {
    return {
      pinId: pinIdOf({ account, server }, { kind, name }),
      account,
      server,
      kind,
      name,
      digest: '',
      sealedDefinition: null,
      isPermitted: false,
      pendingDigest: null,
      sealedPending: null,
      changedAt: this.#deps.clock.now()
    }
  }

  #holding(row: PinRow, { text, digest }: Definition, isPermitted: boolean): PinRow {
    return {
      ...row,
      digest,
      sealedDefinition: this.#sealed(row.pinId, 'definition', text),
      isPermitted,
      pendingDigest: null,
      sealedPending: null,
      changedAt: this.#deps.clock.now()
    }
  }

  #sealed(pinId: string, field: 'definition' | 'pending', text: string): Buffer {
    return this.#deps.seal.seal(Buffer.from(text), sealedFor(pinId, field))
  }

  #opened(pinId: string, field: 'definition' | 'pending', sealed: Uint8Array): string {
    return this.#deps.seal.open(sealed, sealedFor(pinId, field)).toString()
  }
}

export function pinIdOf({ account, server }: Owner, { kind, name }: Pick<Definition, 'kind' | 'name'>): string {
  return hash('sha256', JSON.stringify([account, server, kind, name]), 'hex')
}

/** The server made the change, not a key: so every reviewer may decide it. */
function hand({ server }: Owner): string {
  return `mcp.${server}`
}

/** The places in which two values differ, each with both contents. */
function compare(was: Json | undefined, is: Json | undefined, at: string, out: JsonObject[]): void {
  if (out.length >= mostChanges) return
  if (isObject(was) && isObject(is)) {
    for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
      compare(was[name], is[name], `${at}/${pointerSegment(name)}`, out)
    }
  } else if (Array.isArray(was) && Array.isArray(is)) {
    for (let i = 0; i < Math.max(was.length, is.length); i++) compare(was[i], is[i], `${at}/${i}`, out)
  } else if (JSON.stringify(was) !== JSON.stringify(is)) {
    out.push({ at, ...(was !== undefined && { was }), ...(is !== undefined && { is }) })
  }
}
