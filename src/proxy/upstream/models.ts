/** The check of a new backend: one GET of its list of models. No redirect is followed. */
import { Client } from 'undici'
import { type Json, modelForm } from '../../base/chat.js'
import { type Fault, invalid } from '../../base/errors.js'
import type { UpstreamAuth } from '../../base/settings.js'
import { parseJson } from '../../json/parse.js'
import type { BackendApi } from '../../storage/contracts/upstreams.js'
import { credential } from '../headers.js'
import { guardedLookup, isRefusedHost, RefusedAddress } from './addresses.js'
import { joinPaths } from './upstreams.js'

const timeoutMs = 10_000
const maxBytes = 4 * 1024 * 1024
const mostModels = 500

const ways: Readonly<Record<BackendApi, { path: string; auth: UpstreamAuth; headers?: Record<string, string> }>> = {
  openai: { path: '/v1/models', auth: 'bearer' },
  azure: { path: '/openai/v1/models', auth: 'api-key' },
  anthropic: { path: '/v1/models', auth: 'x-api-key', headers: { 'anthropic-version': '2023-06-01' } },
  gemini: { path: '/v1beta/models', auth: 'x-goog-api-key' },
  ollama: { path: '/api/tags', auth: 'bearer' }
}

export interface Backend {
  /** As `isHttpPrefix` has it. */
  url: string
  api: BackendApi
  key: string | undefined
}

/**
 * @returns the ids of its models, sorted, at most 500
 * @throws Fault `validation_error` that names the field and what is wrong with it, and nothing of the answer
 */
export async function modelsOf({ url, api, key }: Backend): Promise<string[]> {
  const { origin, pathname, hostname } = new URL(url)
  if (isRefusedHost(hostname)) throw wrongUrl(new RefusedAddress().message)
  const { path, auth, headers } = ways[api]
  const client = new Client(origin, {
    connect: { timeout: timeoutMs, lookup: guardedLookup },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: maxBytes
  })
  try {
    const { statusCode, body } = await client.request({
      method: 'GET',
      path: joinPaths(pathname.replace(/\/+$/, ''), path),
      headers: { accept: 'application/json', 'accept-encoding': 'identity', ...headers, ...credential(auth, key) },
      signal: AbortSignal.timeout(timeoutMs)
    })
    if (statusCode === 401 || statusCode === 403) {
      const message = `The backend refuses ${key === undefined ? 'a call without a key' : 'this key'} (${statusCode}).`
      throw invalid('key', 'invalid_format', message)
    }
    if (statusCode >= 300 && statusCode < 400) throw wrongUrl(`it redirects (${statusCode}), which is not followed`)
    if (statusCode !== 200) throw wrongUrl(`its list of models at ${path} answers with ${statusCode}`)
    const models = idsOf(parse(Buffer.from(await body.arrayBuffer())))
    if (models === undefined) throw wrongUrl(`it has no list of models at ${path}`)
    return models
  } catch (error) {
    throw (error as Error).name === 'Fault' ? error : unreachable(error)
  } finally {
    void client.destroy()
  }
}

function wrongUrl(reason: string): Fault {
  return invalid('url', 'invalid_format', `This backend cannot be connected: ${reason}.`)
}

function unreachable(error: unknown): Fault {
  if (error instanceof RefusedAddress) return wrongUrl(error.message)
  const { name, code } = error as NodeJS.ErrnoException
  return wrongUrl(name === 'TimeoutError' ? 'it does not answer in time' : `it cannot be reached (${code ?? name})`)
}

function parse(bytes: Buffer): Json {
  try {
    return parseJson(bytes, { anyNumbers: true })
  } catch {
    throw wrongUrl('its list of models is no JSON')
  }
}

/** `data` as OpenAI and Anthropic have it, `models` as Gemini and Ollama do. */
function idsOf(answer: Json): string[] | undefined {
  const { data, models } = (answer ?? {}) as { data?: Json; models?: Json }
  const list = Array.isArray(data) ? data : models
  if (!Array.isArray(list)) return undefined
  const ids = list.flatMap((one) => {
    const { id, name } = (one ?? {}) as { id?: Json; name?: Json }
    const given = id ?? name
    const model = typeof given === 'string' ? given.replace(/^models\//, '') : ''
    // Only ids of this form are shown, so that nobody can read other servers' texts through the check.
    return modelForm.test(model) ? [model] : []
  })
  return [...new Set(ids)].sort().slice(0, mostModels)
}
