/** The compiled configuration: frozen, durations in ms, sizes in bytes. */

import type { Budget } from './budget.js'
import type { Category } from './decision.js'
import type { McpServerSettings } from './mcp-settings.js'
import type { NoticeSettings } from './notice-settings.js'
import type { ReviewSettings, SampleSettings, SignInSettings } from './people-settings.js'
import type { RouteSettings, UpstreamSettings } from './route-settings.js'
import type { TextsSource } from './texts.js'

export * from './mcp-settings.js'
export * from './notice-settings.js'
export * from './people-settings.js'
export * from './route-settings.js'

export const judgeTypes = [
  'openai-moderation',
  'llama-guard',
  'shieldgemma',
  'granite-guardian',
  'gpt-oss-safeguard',
  'onnx'
] as const
export type JudgeType = (typeof judgeTypes)[number]

export const reasonings = ['low', 'medium', 'high'] as const
export type Reasoning = (typeof reasonings)[number]

/** A heavier judge that constitutions may escalate to. */
export interface JudgeCommon {
  name: string
  /** The judge's own labels, each with the categories that it stands for. */
  labels: Readonly<Record<string, readonly Category[]>>
  /** Scores from `unsafe` on count as found, up to `safe` as clear, in between as not sure. */
  thresholds: { unsafe: number; safe: number }
  /** For one consultation, all its requests together. */
  timeoutMs: number
  /** Concurrent consultations; further ones fail. */
  maxConcurrent: number
  /** UTF-16 units of all texts of a consultation. */
  maxChars: number
  /** `size` 0: none. */
  cache: { size: number; ttlMs: number }
  breaker: { failures: number; openMs: number }
}

export interface RemoteJudgeSettings extends JudgeCommon {
  type: Exclude<JudgeType, 'onnx'>
  /** Up to and without the path of the operation; `…/v1` as a rule. */
  baseUrl: string
  /** Sent as a bearer token. */
  key: string | undefined
  model: string
  tls: UpstreamSettings['tls']
  /** `shieldgemma`: the text of each policy, by label, where it is not the built-in one. */
  guidelines: Readonly<Record<string, string>>
  /** `openai-moderation`, `llama-guard`: whether the model sees pictures. */
  sees: boolean
  /** `gpt-oss-safeguard`: reasoning effort. */
  reasoning: Reasoning
  /** `granite-guardian`: where the server's chat template expects the criterion. */
  criteria: 'template' | 'system'
}

export interface OnnxJudgeSettings extends JudgeCommon {
  type: 'onnx'
  /** Absolute paths of the model and of a Hugging Face `tokenizer.json`. */
  model: string
  tokenizer: string
  /** The labels in the order of the model's outputs. */
  outputs: readonly string[]
  activation: 'softmax' | 'sigmoid'
  /** Tokens of one window, special tokens included. */
  maxTokens: number
  /** Tokens that two windows share. */
  overlap: number
}

export type JudgeSettings = RemoteJudgeSettings | OnnxJudgeSettings

/** What SLUICEGATE_LOG_LEVEL takes. */
export const logLevels: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** `required`: nothing starts without it; `preferred`: where its library does not run on a platform, the first reader decides. */
export const encoderUses = ['required', 'preferred', 'off'] as const
export type EncoderUse = (typeof encoderUses)[number]

/** The second reader (`encoder/`). */
export interface EncoderSettings {
  use: EncoderUse
  /** Absolute path of the folder that holds its three files. */
  folder: string
  threads: number
  /** Windows that may wait for a thread. */
  queue: number
  /** For all questions of a request of 16 windows, from its turn on, and in proportion for more; infinite: none. */
  deadlineMs: number
}

/** The children that read files (`files/`); there are none where no route scans. */
export interface FileSettings {
  /** Each reads one file at a time; for each process of the gateway. */
  processes: number
  /** Files that may wait for one. */
  queue: number
  /** For one file, ms. */
  deadlineMs: number
  /** Resident bytes of one child. */
  memoryBytes: number
  /** Bytes of one file. */
  fileBytes: number
  /** Languages of text in pictures, by Tesseract's codes. */
  languages: readonly string[]
}

/** The backend that transcribes sound, so that it can be judged. */
export interface TranscriptionSettings {
  /** Up to and without `/audio/transcriptions`. */
  baseUrl: string
  /** Sent as a bearer token. */
  key: string | undefined
  model: string
  tls: UpstreamSettings['tls']
  /** For one sound, its waiting not included. */
  timeoutMs: number
  /** Sounds at once, and how many more may wait. */
  maxConcurrent: number
  queue: number
  /** Bytes of one sound. */
  soundBytes: number
}

export interface Limits {
  livePerMinute: number
  testPerMinute: number
  failedAuthPerAddressPerMinute: number
  /** Requests under way at once, where a key has no number of its own; for each process. */
  concurrentPerKey: number
  /** Whether repeated texts of a chat are recognised by digest and not scanned again. */
  remembersTexts: boolean
  request: Budget
}

export interface TracingSettings {
  /** The whole URL that spans are sent to, by OTLP over HTTP as JSON; undefined: there are no traces. */
  endpoint: string | undefined
  /** Sent along: may hold a credential. */
  headers: Readonly<Record<string, string>>
  /** Attributes of the resource, besides its name. */
  attributes: Readonly<Record<string, string>>
  serviceName: string
  /** The share of requests that are traced, where no client's trace is continued. */
  ratio: number
  /** How a client's `traceparent` is treated. */
  fromClient: 'ignore' | 'continue'
  /** The `traceparent` for an upstream: the client's, the gateway's own, or none. */
  toUpstream: 'client' | 'own' | 'none'
}

export interface Settings {
  /** The file the settings came from, or undefined for the defaults alone. */
  file: string | undefined
  /** Warnings about unknown variables with our prefix. */
  unknownVariables: readonly string[]
  server: {
    host: string
    port: number
    /** CIDRs; empty: forwarded addresses are ignored. */
    trustedProxies: readonly string[]
    bodyLimit: number
    /** PEM; `hstsMs`: how long browsers must use TLS only (RFC 6797); 0 revokes that. */
    tls: { cert: string; key: string; hstsMs: number } | undefined
    /** How long a client may leave its answer unread, ms. */
    writeTimeoutMs: number
    /** Address of the terms of use that creating a key accepts; undefined: none. */
    termsUrl: string | undefined
    /** Whether administrators may connect backends over the API and the dashboard. */
    dashboardUpstreams: boolean
    /** CIDRs of private networks from which people may sign in without TLS. */
    plainHttpSignIn: readonly string[]
    /** How long a stopping process still serves while it reports that it is not ready, ms. */
    drainDelayMs: number
  }
  ops: { host: string; port: number }
  storage: {
    /** `sqlite:<absolute path>` or `postgres://…` */
    url: string
    /** How long known keys are honoured while the storage is down, ms. */
    staleKeysMs: number
    /** Disk space of each process for audit and usage while the storage fails. */
    spoolBytes: number
  }
  /** Undefined: only the storage is shared. `prefix` precedes every key there. */
  redis: { url: string; prefix: string } | undefined
  /** Names this process in the audit and in status: the machine's name, unless one is given. */
  node: string
  dataDir: string
  /** 32 bytes that encrypt stored texts; undefined: taken from, or made as, `<dataDir>/master.key`. */
  dataKey: Buffer | undefined
  bootstrapKey: string | undefined
  docsUrl: string
  upstreams: Readonly<Record<string, UpstreamSettings>>
  /** The names of those that the configuration names. */
  givenUpstreams: readonly string[]
  /** True where no upstream is configured: the built-in demo backend stands in as `default`. */
  demo: boolean
  routes: readonly RouteSettings[]
  limits: Limits
  /** The MCP servers behind `/mcp/{server}`, by name. */
  mcp: { servers: Readonly<Record<string, McpServerSettings>> }
  /** By name. */
  judges: Readonly<Record<string, JudgeSettings>>
  encoder: EncoderSettings
  files: FileSettings
  /** Undefined: sound is not read. */
  transcription: TranscriptionSettings | undefined
  review: ReviewSettings
  notices: NoticeSettings
  audit: {
    /** Whether an answer waits until its decision is committed to the audit. */
    required: boolean
    /** Rows older than this are removed, ms. */
    retentionMs: number
    /** Which decisions are written: every one, or those that are not `permit`. */
    decisions: 'all' | 'stopped'
  }
  samples: SampleSettings
  signIn: SignInSettings
  tracing: TracingSettings
  /** YAML files of constitutions, by name. */
  constitutions: Readonly<Record<string, string>>
  /** Own texts for people in place of stopped content, which override the shipped ones. */
  texts: TextsSource | undefined
  /** Processes that share the port. */
  workers: number
}
