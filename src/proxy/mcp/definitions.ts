/**
 * Judges the definitions of a server's tools, prompts and resources, since a model will read them. A definition that is
 * refused, has changed or is not served is removed from its list; the others pass.
 */
import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Json, JsonObject } from '../../base/chat.js'
import type { ToolHint } from '../../base/settings.js'
import { definitionLists, readFromServer } from '../../dialects/mcp/read.js'
import { isObject } from '../../dialects/rewrite.js'
import type { Caller } from '../../identity/caller.js'
import { canonicalJson } from '../../json/canonical.js'
import type { Evaluation } from '../../policy/evaluation.js'
import type { PinKind, PinRow } from '../../storage/contracts/pins.js'
import type { Answers, Judged } from '../answer/answer.js'
import type { Exchange } from '../exchange.js'
import { redactBody } from '../verdict.js'
import { isToolName, skeleton } from './look-alike.js'
import { type Definition, type Occasion, type Owner, type Pins, pinIdOf } from './pins.js'
import { type McpServer, usableOf } from './server.js'

/** Why a definition is withheld: the closed set of the metric's label. */
export const withheldReasons = [
  'changed',
  'new',
  'doubtful',
  'look_alike',
  'refused',
  'malformed',
  'hint',
  'full'
] as const
export type Withheld = (typeof withheldReasons)[number]

/** Verdicts over one answer: after each, the definitions that it named are removed. */
const mostRounds = 4
/** Definitions of one answer whose review is opened or looked up; the others wait for the next answer. */
const mostAsked = 256
/** Definitions that are read in one turn of the loop. */
const atOnce = 200
/** UTF-16 units of one definition. */
const longest = 65_536
const longestName = 1024

type List = (typeof definitionLists)[number] | 'instructions'
const kinds: Readonly<Record<List, PinKind>> = {
  tools: 'tool',
  prompts: 'prompt',
  resources: 'resource',
  resourceTemplates: 'template',
  instructions: 'instructions'
}

interface Item extends Definition {
  list: List
  value: Json
  pin?: PinRow | undefined
  /** Undefined: it may pass. */
  asks?: { occasion: Occasion; evaluation?: Evaluation | undefined }
  isOut?: boolean
}

export interface DefinitionsDeps {
  answers: Answers
  pins: Pins
  withheld(reason: Withheld): void
}

/** Whether a result says what a server offers. */
export function holdsDefinitions(result: JsonObject): boolean {
  return typeof result.instructions === 'string' || definitionLists.some((list) => Array.isArray(result[list]))
}

export class Definitions {
  readonly #deps: DefinitionsDeps

  constructor(deps: DefinitionsDeps) {
    this.#deps = deps
  }

  /** Judges a response that holds definitions, in place. @returns as `Answers.act` */
  async judge(exchange: Exchange, server: McpServer, body: JsonObject): Promise<Judged> {
    const { answers } = this.#deps
    const result = body.result as JsonObject
    const owner = { account: exchange.inbound.caller.accountId, server: server.name }
    const items = await this.#collect(server, exchange.inbound.caller, result)
    const pins = await this.#deps.pins.find(owner, items)
    for (const item of items) item.pin = pins.get(pinIdOf(owner, item))
    await this.#markLookAlikes(owner, items)
    // A definition that a person has permitted unchanged is not judged again.
    let judged = items.filter((item) => !isPermitted(item))
    for (let round = 1; ; round++) {
      write(result, judged)
      const content = readFromServer({ body })
      const evaluation = await answers.verdictOf(exchange, content)
      const isRefused =
        evaluation !== undefined && exchange.route.mode === 'enforce' && evaluation.decision !== 'permit'
      if (!isRefused) {
        if (evaluation !== undefined && exchange.route.mode === 'enforce')
          redactBody(exchange, body, content, evaluation)
        break
      }
      const named = offenders(judged, evaluation)
      if (named.length === 0 || round === mostRounds) return answers.act(exchange, body, content, evaluation)
      for (const item of named) {
        if (evaluation.decision === 'forbid') {
          item.isOut = true
          this.#deps.withheld('refused')
        } else item.asks ??= { occasion: 'definition_doubtful', evaluation }
      }
      judged = judged.filter((item) => !named.includes(item))
    }
    if (typeof result.instructions === 'string') {
      // It may have been redacted.
      for (const item of judged) if (item.list === 'instructions') item.value = result.instructions
    }
    await this.#hold(exchange, server, owner, items)
    write(
      result,
      items.filter((item) => item.isOut !== true)
    )
    return { body }
  }

  /** Removes values that are no definitions, and definitions that are not served to this key. */
  async #collect(server: McpServer, { scopes }: Caller, result: JsonObject): Promise<Item[]> {
    const mayUse = usableOf(server, scopes)
    const items: Item[] = []
    const seen = new Set<string>()
    for (const list of definitionLists) {
      const values = result[list]
      if (!Array.isArray(values)) continue
      for (const [i, value] of values.entries()) {
        if (i % atOnce === atOnce - 1) await setImmediate()
        const item = readItem(list, value)
        if (item === undefined || seen.has(`${list} ${item.name}`)) {
          this.#deps.withheld('malformed')
          continue
        }
        seen.add(`${list} ${item.name}`)
        if (!mayUse(item.kind, item.name)) continue
        if (list === 'tools') {
          if (!server.serves(item.name)) continue
          if (!meets(value as JsonObject, server.settings.require)) {
            this.#deps.withheld('hint')
            continue
          }
        }
        items.push(item)
      }
    }
    const { instructions } = result
    if (typeof instructions === 'string') {
      if (instructions.length <= longest) items.push(itemOf('instructions', '', instructions))
      else this.#deps.withheld('malformed')
    }
    return items
  }

  /** Marks tools whose names look like those of another server: a model or a person could confuse them. */
  async #markLookAlikes(owner: Owner, items: readonly Item[]): Promise<void> {
    const tools = items.filter(({ kind, pin }) => kind === 'tool' && (pin === undefined || pin.digest === ''))
    if (tools.length === 0) return
    const others = new Map<string, Set<string>>()
    for (const { name } of await this.#deps.pins.otherTools(owner)) {
      const key = skeleton(name)
      others.set(key, (others.get(key) ?? new Set()).add(name))
    }
    for (const item of tools) {
      const alike = others.get(skeleton(item.name))
      if (alike !== undefined && !alike.has(item.name)) item.asks = { occasion: 'definition_look_alike' }
    }
  }

  /** Pins new definitions, and asks a person about changed ones. */
  async #hold(exchange: Exchange, { settings }: McpServer, owner: Owner, items: readonly Item[]): Promise<void> {
    const { pins } = this.#deps
    const passing = items.filter((item) => item.isOut !== true)
    const isNew = (item: Item) => item.pin === undefined && item.asks === undefined
    if (settings.pin === 'first_use') {
      const added = passing.filter(isNew)
      const rows = added.length === 0 ? new Map<string, PinRow>() : await pins.add(owner, added)
      for (const item of added) {
        item.pin = rows.get(pinIdOf(owner, item))
        if (item.pin === undefined) this.#withhold(item, 'full')
      }
    }
    const policy = typeof exchange.policy === 'string' ? exchange.policy : exchange.policy.label
    let asks = 0
    for (const item of passing) {
      if (item.isOut === true) continue
      const { pin } = item
      if (pin !== undefined && pin.digest === item.digest && (item.asks === undefined || pin.isPermitted)) {
        await pins.settle(pin)
        continue
      }
      const { occasion, evaluation } = item.asks ?? {
        occasion:
          pin === undefined || pin.digest === '' ? ('definition_new' as const) : ('definition_changed' as const),
        evaluation: exchange.verdict
      }
      if (++asks > mostAsked) {
        this.#withhold(item, reasons[occasion])
        continue
      }
      const asked = await pins.ask(owner, pin, item, { occasion, policy, evaluation })
      if (!asked.holds) this.#withhold(item, reasons[occasion])
    }
  }

  #withhold(item: Item, reason: Withheld): void {
    item.isOut = true
    this.#deps.withheld(reason)
  }
}

const reasons: Readonly<Record<Occasion, Withheld>> = {
  definition_changed: 'changed',
  definition_new: 'new',
  definition_doubtful: 'doubtful',
  definition_look_alike: 'look_alike'
}

function isPermitted({ pin, digest }: Item): boolean {
  return pin?.isPermitted === true && pin.digest === digest
}

/** Whether the annotations of a tool meet the configuration's requirements. */
export function meets({ annotations }: JsonObject, require: readonly ToolHint[]): boolean {
  if (require.length === 0) return true
  const { readOnlyHint, destructiveHint } = isObject(annotations) ? annotations : {}
  return require.every((hint) =>
    hint === 'read_only' ? readOnlyHint === true : readOnlyHint === true || destructiveHint === false
  )
}

function readItem(list: Exclude<List, 'instructions'>, value: Json): Item | undefined {
  if (!isObject(value)) return undefined
  dropPictures(value)
  const name = list === 'resources' ? value.uri : list === 'resourceTemplates' ? value.uriTemplate : value.name
  if (typeof name !== 'string' || name === '' || name.length > longestName) return undefined
  if (list === 'tools' && !isToolName(name)) return undefined
  const item = itemOf(list, name, value)
  return item.text.length > longest ? undefined : item
}

function itemOf(list: List, name: string, value: Json): Item {
  const text = canonicalJson(value)
  const kept = lasting(value)
  const digest = hash('sha256', kept === value ? text : canonicalJson(kept), 'hex')
  return { list, kind: kinds[list], name, value, text, digest }
}

/** The definition without fields that describe the content and change with it. */
function lasting(value: Json): Json {
  if (!isObject(value) || typeof value.uri !== 'string') return value
  const { size: _, annotations, ...rest } = value
  if (!isObject(annotations)) return rest
  const { lastModified: __, ...others } = annotations
  return Object.keys(others).length === 0 ? rest : { ...rest, annotations: others }
}

/** Removes inline pictures of a definition, which cannot be judged: clients show other ones, or none. */
export function dropPictures(value: JsonObject): void {
  if (!Array.isArray(value.icons)) return
  const kept = value.icons.filter(
    (icon) => isObject(icon) && typeof icon.src === 'string' && /^https?:\/\//.test(icon.src)
  )
  if (kept.length === 0) delete value.icons
  else value.icons = kept
}

/** Writes the remaining definitions into a result. */
function write(result: JsonObject, items: readonly Item[]): void {
  for (const list of definitionLists) {
    if (Array.isArray(result[list])) result[list] = items.filter((item) => item.list === list).map(({ value }) => value)
  }
  const instructions = items.find(({ list }) => list === 'instructions')
  if (instructions !== undefined) result.instructions = instructions.value
  else delete result.instructions
}

/** The definitions that a verdict names. */
function offenders(items: readonly Item[], { detections, matched_rules: rules }: Evaluation): Item[] {
  const causes = detections.filter(({ rule, pointer }) => pointer !== undefined && rules.includes(rule))
  const named = new Set(
    causes.map(({ pointer }) => /^\/result\/([A-Za-z]+)(?:\/(\d+))?/.exec(pointer!)?.slice(1).join(' '))
  )
  const counts = new Map<List, number>()
  return items.filter(({ list }) => {
    const index = counts.get(list) ?? 0
    counts.set(list, index + 1)
    return list === 'instructions' ? named.has('instructions ') : named.has(`${list} ${index}`)
  })
}
