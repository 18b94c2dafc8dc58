/**
 * Checks on a message before its verdict: whether its key may use this server, and the tool or resource that it names.
 */
import type { Json, JsonObject } from '../../base/chat.js'
import type { Message } from '../../dialects/mcp/message.js'
import { isRevision, revisions, stateless } from '../../dialects/mcp/methods.js'
import { errorCodes, failedCall, rpcCodes, rpcError } from '../../dialects/mcp/write.js'
import { isObject } from '../../dialects/rewrite.js'
import type { Caller } from '../../identity/caller.js'
import { holds, insufficientScope, mcpScopeOf, mcpToolsOf, type Scope } from '../../identity/scopes.js'
import { limitFault } from '../../limits/fault.js'
import { minuteMs } from '../../limits/limiter.js'
import type { CounterStore } from '../../storage/contracts/shared-state.js'
import { meets } from './definitions.js'
import { isToolName } from './look-alike.js'
import type { Definition, Pins } from './pins.js'
import { type McpServer, usableOf } from './server.js'

export interface GateDeps {
  pins: Pins
  counters: CounterStore
}

/** Kind of definition that each method uses. */
const uses: Readonly<Record<string, { kind: Definition['kind']; field: string; isRequired: boolean }>> = {
  'tools/call': { kind: 'tool', field: 'name', isRequired: true },
  'prompts/get': { kind: 'prompt', field: 'name', isRequired: true },
  // Not required: a template has addresses that no list contains.
  'resources/read': { kind: 'resource', field: 'uri', isRequired: false },
  'resources/subscribe': { kind: 'resource', field: 'uri', isRequired: false }
}

export class Gate {
  readonly #deps: GateDeps

  constructor(deps: GateDeps) {
    this.#deps = deps
  }

  /** @throws Fault `insufficient_scope` */
  checkScopes({ settings, name }: McpServer, { scopes }: Caller): void {
    if (mcpToolsOf(scopes, name)?.length === 0) throw insufficientScope(mcpScopeOf(name), scopes)
    const asked = settings.scopes as readonly Scope[] | undefined
    if (asked !== undefined && !asked.some((scope) => holds(scopes, scope))) throw insufficientScope(asked[0]!, scopes)
  }

  /**
   * @returns the answer that refuses the request; undefined: it may go on
   * @throws Fault `rate_limit_exceeded` where a tool is called too often
   */
  async check(
    server: McpServer,
    caller: Caller,
    message: Message & { kind: 'request' },
    { policy, requestId }: { policy: string; requestId: string }
  ): Promise<JsonObject | undefined> {
    const { method, params, id } = message
    if (method === 'initialize') return checkInitialize(message)
    // Completion serves arguments of prompts and templates, never of tools.
    if (method === 'completion/complete' && mcpToolsOf(caller.scopes, server.name) !== undefined)
      return rpcError(id, rpcCodes.invalidParams, 'This key may use only tools of this server.', {
        request_id: requestId
      })
    const use = Object.hasOwn(uses, method) ? uses[method]! : undefined
    if (use === undefined) return undefined
    const { kind, field, isRequired } = use
    const name = params[field]
    const unknown = () =>
      rpcError(id, rpcCodes.invalidParams, `Unknown ${kind}: it is not listed here. Request the list first.`, {
        request_id: requestId
      })
    if (typeof name !== 'string') return unknown()
    if (!usableOf(server, caller.scopes)(kind, name)) return unknown()
    if (kind === 'tool' && !(isToolName(name) && server.serves(name))) return unknown()
    const standing = await this.#deps.pins.standing(
      { account: caller.accountId, server: server.name },
      { kind, name },
      policy
    )
    if (standing === undefined) return isRequired ? unknown() : undefined
    if (!('definition' in standing)) {
      const isResult = kind === 'tool' && server.route.respond === 'message'
      const data = {
        error: 'definition_changed',
        ...(standing.reviewId !== undefined && { review_id: standing.reviewId }),
        request_id: requestId
      }
      const sentence = `The definition of this ${kind} has changed since it was permitted. A person must decide about it first.`
      return isResult
        ? failedCall(id, sentence, data, isStateless(params))
        : rpcError(id, errorCodes.definition_changed, sentence, data)
    }
    if (kind !== 'tool') return undefined
    if (!meets(isObject(standing.definition) ? standing.definition : {}, server.settings.require)) return unknown()
    await this.#charge(server, caller, name)
    return undefined
  }

  async #charge(server: McpServer, { lineage }: Caller, tool: string): Promise<void> {
    const limit = server.limitOf(tool)
    if (limit === undefined) return
    const { allowed, remaining, resetMs, retryMs } = await this.#deps.counters.take(
      `${lineage}/mcp/${server.name}/${tool}`,
      1,
      limit,
      minuteMs
    )
    if (allowed) return
    const [reset, retryAfter] = [resetMs, retryMs].map((ms) => Math.max(1, Math.ceil(ms / 1000)))
    throw limitFault({ allowed, limit, remaining, reset: reset!, retryAfter: retryAfter! })
  }
}

/** The client must request a revision with sessions: the one without has no `initialize`. */
function checkInitialize({ id, params }: Message & { kind: 'request' }): JsonObject | undefined {
  const { protocolVersion: requested } = params
  if (typeof requested === 'string' && isRevision(requested) && requested !== stateless) return undefined
  const supported: Json[] = revisions.filter((revision) => revision !== stateless)
  return rpcError(id, rpcCodes.invalidParams, 'Unsupported protocol version', { supported })
}

export function isStateless(params: JsonObject): boolean {
  return isObject(params._meta) && params._meta['io.modelcontextprotocol/protocolVersion'] === stateless
}
