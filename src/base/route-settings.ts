/** The settings of routes and of the upstreams that they lead to, compiled. */
import type { Redactable } from './decision.js'
import type { Unscannable } from './unscannable.js'

export const dialectIds = [
  'openai-chat',
  'openai-responses',
  'openai-realtime',
  'openai-completions',
  'openai-embeddings',
  'openai-images',
  'openai-speech',
  'openai-transcriptions',
  'azure-openai',
  'anthropic',
  'gemini',
  'ollama',
  'cohere',
  'bedrock'
] as const
export type DialectId = (typeof dialectIds)[number]

export const upstreamAuths = ['bearer', 'x-api-key', 'x-goog-api-key', 'api-key', 'aws', 'none'] as const
export type UpstreamAuth = (typeof upstreamAuths)[number]

/** Signing of requests to AWS, and the sources of credentials besides the environment. */
export interface AwsSettings {
  region: string
  service: string
  /** Profile of the shared file, which is then the only source. */
  profile: string | undefined
  instanceMetadata: boolean
}

export interface UpstreamSettings {
  name: string
  /** Absolute http or https URL; its path is a prefix. */
  url: string
  /** Credential sent upstream, never shown to a client. */
  key: string | undefined
  /** Undefined: what the route's dialect uses. */
  auth: UpstreamAuth | undefined
  /** With `auth: aws`. */
  aws?: AwsSettings
  connectTimeoutMs: number
  firstByteTimeoutMs: number
  idleTimeoutMs: number
  totalTimeoutMs: number
  maxConnections: number
  /** How long a request waits for one of them, ms. */
  queueTimeoutMs: number
  /** Connected over the API: never at a link-local address or a metadata service. */
  isConnected?: boolean
  /** PEM texts, already read. */
  tls: { ca: string | undefined; cert: string | undefined; key: string | undefined }
  /** Names of upstreams to try when this one cannot be reached, before a byte of the request was written. */
  fallback: readonly string[]
}

export type Mode = 'enforce' | 'observe'
export type Respond = 'error' | 'message'
export type Output = 'off' | 'window' | 'full'
export type OnFailure = 'closed' | 'open'
export type { Redactable } from './decision.js'

export interface RouteSettings {
  /** Stable name of the route in metrics and logs: the path, or path and upstream where several share it. */
  id: string
  /** GET where it is opened as a WebSocket. */
  method: 'POST' | 'GET'
  /** Exact path that clients call. */
  path: string
  /** Path on the upstream, before the upstream's own prefix. */
  upstreamPath: string
  dialect: DialectId
  upstream: string
  /** Globs (`*` only) over the request's model; undefined matches all. */
  match: { model: readonly string[] } | undefined
  mode: Mode
  respond: Respond
  output: Output
  divert: 'queue' | { upstream: string }
  onFailure: OnFailure
  unscannable: Unscannable
  redact: readonly Redactable[]
  constitution: string
  /** Whether the file names it, for the route or in `defaults`: otherwise the store may bind another. */
  constitutionGiven: boolean
  /** The context keys of a caller that count; others are judged as text only. */
  callerContext: readonly string[]
  bodyLimit: number
  /** How much of a streamed answer, and with `window` how long, may be held before it is judged as it stands. */
  hold: { bytes: number; ms: number }
}
