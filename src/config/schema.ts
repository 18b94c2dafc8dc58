/**
 * The configuration file as one schema: it validates the file and types the input of `load.ts`; `accepts` is the text
 * for error messages. Every key is optional, except those without which its section is meaningless.
 */
import Type, { type Static } from 'typebox'
import { redactables } from '../base/decision.js'
import {
  dialectIds,
  type EncoderUse,
  encoderUses,
  judgeTypes,
  ownHeader,
  pinModes,
  reasonings,
  toolHints,
  upstreamAuths
} from '../base/settings.js'
import { mediaKinds, type Unscannable, unscannableActs } from '../base/unscannable.js'
import { keyScopes } from '../identity/scopes.js'
import { categories } from '../policy/evaluation.js'
import { noticesSection } from './notices-schema.js'
import { peopleSections } from './people-schema.js'
import { tracingSection } from './tracing.js'
import {
  choice,
  closed,
  duration,
  file,
  hold,
  host,
  named,
  path,
  period,
  perMinute,
  port,
  room,
  size,
  text,
  timeout,
  upstreamName
} from './values.js'

const treatment = {
  mode: Type.Optional(choice(['enforce', 'observe'])),
  respond: Type.Optional(choice(['error', 'message'])),
  output: Type.Optional(choice(['off', 'window', 'full'])),
  hold: Type.Optional(Type.Object({ size: Type.Optional(size), time: Type.Optional(timeout) }, closed)),
  divert: Type.Optional(
    Type.Unsafe<'queue' | { upstream: string }>({
      anyOf: [{ const: 'queue' }, Type.Object({ upstream: upstreamName }, closed)],
      accepts: 'queue, or { upstream: name }'
    })
  ),
  on_failure: Type.Optional(choice(['closed', 'open'])),
  unscannable: Type.Optional(
    Type.Unsafe<Unscannable>({
      anyOf: [
        choice(unscannableActs),
        Type.Object(
          Object.fromEntries(mediaKinds.map((kind) => [kind, Type.Optional(choice(unscannableActs))])),
          closed
        )
      ],
      accepts: `${unscannableActs.join(', ')}, or one for each of { ${mediaKinds.join(', ')} }`
    })
  ),
  redact: Type.Optional(Type.Array(choice(redactables), { accepts: `of ${redactables.join(', ')}` })),
  constitution: Type.Optional(text('the name of a constitution')),
  caller_context: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64, accepts: 'a context key' }), {
      accepts: 'of context keys'
    })
  )
}

/** Connection settings of a chat backend or an MCP server. */
const reached = {
  url: Type.String({
    format: 'http-prefix',
    accepts: 'an http or https URL without credentials, query or fragment; keys go to "key"'
  }),
  key: Type.Optional(Type.String({ pattern: '^[\\x21-\\x7e]*$', accepts: 'visible ASCII, as a header takes it' })),
  auth: Type.Optional(choice(upstreamAuths)),
  connect_timeout: Type.Optional(timeout),
  first_byte_timeout: Type.Optional(timeout),
  idle_timeout: Type.Optional(timeout),
  total_timeout: Type.Optional(timeout),
  max_connections: Type.Optional(Type.Integer({ minimum: 1, maximum: 65535, accepts: '1 to 65535' })),
  queue_timeout: Type.Optional(timeout),
  tls: Type.Optional(
    Type.Object({ ca: Type.Optional(file), cert: Type.Optional(file), key: Type.Optional(file) }, closed)
  )
}

/** Signing for a backend in AWS (`auth: aws`). */
const aws = Type.Object(
  {
    region: Type.String({ pattern: '^[a-z]{2}(?:-[a-z]+)+-[0-9]+$', accepts: 'a region such as us-east-1' }),
    service: Type.Optional(
      Type.String({ pattern: '^[a-z][a-z0-9-]{0,63}$', accepts: 'the name that signatures are for: bedrock' })
    ),
    profile: Type.Optional(text('the name of a profile in the shared file')),
    instance_metadata: Type.Optional(Type.Boolean())
  },
  closed
)

const upstream = Type.Object(
  {
    ...reached,
    aws: Type.Optional(aws),
    fallback: Type.Optional(Type.Array(upstreamName, { accepts: 'of upstream names' }))
  },
  closed
)

const globs = (what: string) =>
  Type.Array(text(`${what}; * stands for any text`), { minItems: 1, accepts: 'a list of one or more' })

const ownAuths = upstreamAuths.filter((auth) => auth !== 'aws')
const { output: _, hold: __, divert: ___, ...judged } = treatment
const mcpServer = Type.Object(
  {
    ...reached,
    // Only chats of AWS are signed.
    auth: Type.Optional(choice(ownAuths)),
    ...judged,
    pin: Type.Optional(choice(pinModes)),
    tools: Type.Optional(globs('the name of a tool')),
    tool_limits: Type.Optional(
      Type.Record(Type.String({ minLength: 1 }), perMinute, {
        accepts: 'calls per minute of a key, by the name of a tool; * stands for any text'
      })
    ),
    require: Type.Optional(Type.Array(choice(toolHints), { accepts: `of ${toolHints.join(', ')}` })),
    scopes: Type.Optional(Type.Array(choice(keyScopes), { minItems: 1, accepts: `of ${keyScopes.join(', ')}` })),
    headers: Type.Optional(
      Type.Record(
        Type.String({ pattern: ownHeader.source }),
        Type.String({ pattern: '^[\\x20-\\x7e]{0,4096}$', accepts: 'visible ASCII, as a header takes it' }),
        {
          ...closed,
          accepts: 'headers of your own, in lower case, such as x-tenant; the key goes to "key"'
        }
      )
    ),
    body_limit: Type.Optional(size)
  },
  closed
)

const route = Type.Object(
  {
    path,
    upstream_path: Type.Optional(path),
    dialect: choice(dialectIds),
    upstream: Type.Optional(upstreamName),
    match: Type.Optional(
      Type.Object(
        {
          model: Type.Array(text('a model name; * stands for any text'), {
            minItems: 1,
            accepts: 'a list of one or more'
          })
        },
        closed
      )
    ),
    body_limit: Type.Optional(size),
    ...treatment
  },
  closed
)

const score = Type.Number({ minimum: 0, maximum: 1, accepts: '0 to 1' })
const whole = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, accepts: `${minimum} to ${maximum}` })
/** Keys are a judge's own labels, which may be any text. */
const byLabel = <T extends Parameters<typeof Type.Record>[1]>(value: T, accepts: string) =>
  Type.Record(Type.String(), value, { accepts })

const prefixUrl = Type.String({
  format: 'http-prefix',
  accepts: 'an http or https URL without credentials, query or fragment; keys go to "api_key"'
})
const headerText = Type.String({ pattern: '^[\\x21-\\x7e]*$', accepts: 'visible ASCII, as a header takes it' })

const judge = Type.Object(
  {
    type: choice(judgeTypes),
    base_url: Type.Optional(prefixUrl),
    api_key: Type.Optional(headerText),
    model: text('the name of the model; for onnx, the path of its file'),
    timeout: Type.Optional(timeout),
    max_concurrent: Type.Optional(whole(1, 1024)),
    max_chars: Type.Optional(whole(1, 1_000_000)),
    cache: Type.Optional(Type.Object({ size: Type.Optional(whole(0, 1_000_000)), ttl: Type.Optional(period) }, closed)),
    breaker: Type.Optional(
      Type.Object({ failures: Type.Optional(whole(1, 1000)), open_for: Type.Optional(period) }, closed)
    ),
    thresholds: Type.Optional(Type.Object({ unsafe: Type.Optional(score), safe: Type.Optional(score) }, closed)),
    categories: Type.Optional(
      byLabel(
        Type.Array(choice(categories), { accepts: `of ${categories.join(', ')}` }),
        'lists of categories by the labels of the judge'
      )
    ),
    tls: Type.Optional(
      Type.Object({ ca: Type.Optional(file), cert: Type.Optional(file), key: Type.Optional(file) }, closed)
    ),
    sees: Type.Optional(Type.Boolean()),
    guidelines: Type.Optional(byLabel(text('the text of a guideline'), 'texts of guidelines by label')),
    criteria: Type.Optional(choice(['template', 'system'])),
    reasoning: Type.Optional(choice(reasonings)),
    tokenizer: Type.Optional(text('the path of a tokenizer.json')),
    labels: Type.Optional(
      Type.Array(text('the label of an output'), {
        minItems: 1,
        accepts: 'a list of one or more, in the order of the outputs'
      })
    ),
    activation: Type.Optional(choice(['softmax', 'sigmoid'])),
    max_tokens: Type.Optional(whole(8, 8192)),
    overlap: Type.Optional(whole(0, 4096))
  },
  closed
)

const encoderKeys = Type.Object(
  {
    use: Type.Optional(choice(encoderUses)),
    folder: Type.Optional(text('the path of a folder')),
    threads: Type.Optional(whole(1, 64)),
    queue: Type.Optional(whole(64, 65_536)),
    deadline: Type.Optional(timeout)
  },
  closed
)
const encoder = Type.Unsafe<EncoderUse | Static<typeof encoderKeys>>({
  anyOf: [choice(encoderUses), encoderKeys],
  accepts: `${encoderUses.join(', ')}, or { use, folder, threads, queue, deadline }`
})

/** As Tesseract names what it reads: `eng`, `deu`, `chi_sim`. */
const language = Type.String({
  pattern: '^[a-z]{3}(?:_[a-z]{2,8}){0,2}$',
  accepts: 'the code of a language as Tesseract has it, such as eng, deu or chi_sim'
})

const files = Type.Object(
  {
    processes: Type.Optional(whole(1, 16)),
    queue: Type.Optional(whole(1, 1024)),
    deadline: Type.Optional(timeout),
    memory: Type.Optional(room),
    file_limit: Type.Optional(size),
    languages: Type.Optional(Type.Array(language, { minItems: 1, maxItems: 8, uniqueItems: true }))
  },
  closed
)

const redisPrefix = Type.String({
  pattern: '^[A-Za-z0-9:._-]{1,64}$',
  accepts: 'up to 64 letters, digits, ":", ".", "_" and "-"'
})

const transcription = Type.Object(
  {
    base_url: prefixUrl,
    api_key: Type.Optional(headerText),
    model: text('the name of the model'),
    timeout: Type.Optional(timeout),
    max_concurrent: Type.Optional(whole(1, 1024)),
    queue: Type.Optional(whole(1, 1024)),
    sound_limit: Type.Optional(size),
    tls: Type.Optional(
      Type.Object({ ca: Type.Optional(file), cert: Type.Optional(file), key: Type.Optional(file) }, closed)
    )
  },
  closed
)

export const FileSchema = Type.Object(
  {
    server: Type.Optional(
      Type.Object(
        {
          host: Type.Optional(host),
          port: Type.Optional(port),
          trusted_proxies: Type.Optional(
            Type.Array(
              Type.String({
                format: 'address-or-cidr',
                accepts:
                  'addresses and CIDRs such as 10.0.0.0/8 or ::1; hop counts, true and names would believe a forged header'
              }),
              { accepts: 'of addresses and CIDRs; hop counts, true and names would believe a forged header' }
            )
          ),
          body_limit: Type.Optional(size),
          tls: Type.Optional(Type.Object({ cert: file, key: file, hsts: Type.Optional(duration) }, closed)),
          plain_http_sign_in: Type.Optional(
            Type.Array(
              Type.String({
                format: 'private-cidr',
                accepts:
                  'private networks such as 172.16.0.0/12, 192.168.0.0/16 or fd00::/8; passwords are sent in the clear there'
              }),
              { accepts: 'of private networks, such as 172.16.0.0/12' }
            )
          ),
          dashboard_upstreams: Type.Optional(Type.Boolean({ accepts: 'true or false' })),
          terms_url: Type.Optional(
            Type.String({ format: 'docs-url', accepts: 'a path such as /terms, or an http or https URL' })
          ),
          drain_delay: Type.Optional(hold),
          write_timeout: Type.Optional(timeout)
        },
        closed
      )
    ),
    ops: Type.Optional(Type.Object({ host: Type.Optional(host), port: Type.Optional(port) }, closed)),
    storage: Type.Optional(
      Type.Object(
        {
          url: Type.Optional(text('sqlite:<path> or postgres://…')),
          stale_keys: Type.Optional(duration),
          spool: Type.Optional(room)
        },
        closed
      )
    ),
    redis: Type.Optional(
      Type.Object({ url: Type.Optional(text('redis://…')), prefix: Type.Optional(redisPrefix) }, closed)
    ),
    docs_url: Type.Optional(
      Type.String({ format: 'docs-url', accepts: 'a path such as /docs, or an http or https URL' })
    ),
    upstreams: Type.Optional(named(upstream)),
    defaults: Type.Optional(Type.Object(treatment, closed)),
    routes: Type.Optional(
      Type.Array(route, { minItems: 1, accepts: 'one or more; leave it out for the published paths' })
    ),
    mcp: Type.Optional(Type.Object({ servers: Type.Optional(named(mcpServer)) }, closed)),
    limits: Type.Optional(
      Type.Object(
        {
          live_per_minute: Type.Optional(perMinute),
          test_per_minute: Type.Optional(perMinute),
          failed_auth_per_address_per_minute: Type.Optional(perMinute),
          concurrent_per_key: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000, accepts: '1 to 100000' })),
          remember_texts: Type.Optional(choice(['on', 'off'])),
          request: Type.Optional(
            Type.Object(
              {
                nodes: Type.Optional(whole(1_000, 10_000_000)),
                parts: Type.Optional(whole(1_000, 10_000_000)),
                units: Type.Optional(whole(200_000, 1_000_000_000)),
                views: Type.Optional(whole(200_000, 1_000_000_000)),
                findings: Type.Optional(whole(1_000, 10_000_000))
              },
              closed
            )
          )
        },
        closed
      )
    ),
    ...peopleSections,
    notices: Type.Optional(noticesSection),
    tracing: Type.Optional(tracingSection),
    encoder: Type.Optional(encoder),
    files: Type.Optional(files),
    transcription: Type.Optional(transcription),
    judges: Type.Optional(named(judge)),
    constitutions: Type.Optional(named(text('the path of a YAML file'))),
    // Held against its shape by `checkTexts`, which constitutions and the API share.
    texts: Type.Optional(Type.Object({}, { accepts: 'language, region, help, ask, languages' }))
  },
  closed
)
export type FileConfig = Static<typeof FileSchema>
export type FileUpstream = Static<typeof upstream>
export type FileReached = Pick<FileUpstream, keyof typeof reached>
export type FileJudge = Static<typeof judge>
export type FileEncoder = Static<typeof encoder>
export type FileFiles = Static<typeof files>
export type FileTranscription = Static<typeof transcription>
export type FileRoute = Static<typeof route>
export type FileTreatment = Partial<Pick<FileRoute, keyof typeof treatment>>
