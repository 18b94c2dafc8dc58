/** What the configuration becomes once it is read and compiled: frozen, durations in ms, sizes in bytes. */

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
  /** Consultations at once; beyond, one has failed. */
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
  /** `gpt-oss-safeguard`: how long it thinks before it answers. */
  reasoning: Reasoning
  /** `granite-guardian`: where the server's chat template looks for the criterion. */
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
  /** Of one window, special tokens included. */
  maxTokens: number
  /** Tokens that two windows share. */
  overlap: number
}

export type JudgeSettings = RemoteJudgeSettings | OnnxJudgeSettings

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
  /** For all that one request asks, its waiting included; infinite: none. */
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
  /** Of text in pictures, by Tesseract's codes. */
  languages: readonly string[]
}

/** The backend that says what is spoken in sound, so that it can be judged. */
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
  /** Whether texts of a chat that come again are known by their digests, and not scanned again. */
  remembersTexts: boolean
  request: Budget
}

export interface TracingSettings {
  /** The whole URL that spans are sent to, by OTLP over HTTP as JSON; undefined: there are no traces. */
  endpoint: string | undefined
  /** Sent along: may hold a credential. */
  headers: Readonly<Record<string, string>>
  /** Of the resource, besides its name. */
  attributes: Readonly<Record<string, string>>
  serviceName: string
  /** The share of requests that are traced, where no client's trace is continued. */
  ratio: number
  /** What becomes of a client's `traceparent`. */
  fromClient: 'ignore' | 'continue'
  /** What an upstream is sent: what the client sent, the gateway's own, or nothing. */
  toUpstream: 'client' | 'own' | 'none'
}

export interface Settings {
  /** The file the settings came from, or undefined for the defaults alone. */
  file: string | undefined
  /** Variables that begin as ours do and that nothing reads, in sentences. */
  unknownVariables: readonly string[]
  server: {
    host: string
    port: number
    /** CIDRs; empty: no forwarded address is believed. */
    trustedProxies: readonly string[]
    bodyLimit: number
    /** PEM; `hstsMs`: for how long a browser is told to come by TLS alone (RFC 6797), 0 to take that back. */
    tls: { cert: string; key: string; hstsMs: number } | undefined
    /** How long a client may take nothing of what is there for it, ms. */
    writeTimeoutMs: number
    /** Of the terms of use that creating a key accepts; undefined: none are asked for. */
    termsUrl: string | undefined
    /** Whether administrators may connect backends over the API and the dashboard. */
    dashboardUpstreams: boolean
    /** CIDRs of private networks from which people may sign in without TLS. */
    plainHttpSignIn: readonly string[]
    /** How long a process that is told to stop says that it is not ready, and serves on; ms. */
    drainDelayMs: number
  }
  ops: { host: string; port: number }
  storage: {
    /** `sqlite:<absolute path>` or `postgres://…` */
    url: string
    /** How long known keys are honoured while the storage is down, ms. */
    staleKeysMs: number
    /** Room on the disk for audit and usage that the storage does not take, for each process. */
    spoolBytes: number
  }
  /** Undefined: nothing is shared but the storage. `prefix` is before every name there. */
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
    /** Whether an answer waits until what was decided is committed to the audit. */
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
  /** What people are told in the place of what is stopped, where it is other than what ships. */
  texts: TextsSource | undefined
  /** Processes that share the port. */
  workers: number
}
