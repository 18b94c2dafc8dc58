/** The section of the configuration about what people are told of: its schema, and what it becomes. */
import Type from 'typebox'
import { mailSecurities, type Settings, webhookFormats } from '../base/settings.js'
import { isLoopbackHost, parseDuration } from '../base/units.js'
import type { Fail } from './problem.js'
import type { FileConfig } from './schema.js'
import { readTls } from './upstreams.js'
import { choice, closed, file, host, period, text, timeout } from './values.js'

/** Between two looks, at most: an alert is to come within the hour. */
const mostEveryMs = 3_600_000
/** What `notices.stops` compares with is kept in steps of ten minutes. */
const windowStepMs = 600_000
const mostWindowMs = 24 * 3_600_000

/** One address, as a header and a command of SMTP take it: no name, no list, no comment, no line break. */
const address = Type.String({
  pattern: "^(?=.{3,254}$)[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$",
  accepts: 'one e-mail address without a name, such as ops@example.com'
})
const count = Type.Integer({ minimum: 1, maximum: 1_000_000, accepts: '1 to 1000000' })
const off = { const: 'off' }

export const webhookSection = Type.Object(
  {
    url: Type.String({ format: 'webhook-url', accepts: 'an http or https URL without credentials' }),
    secret: Type.String({ pattern: '^[\\x21-\\x7e]{16,}$', accepts: '16 or more visible ASCII characters' }),
    format: Type.Optional(choice(webhookFormats))
  },
  closed
)

export interface ReviewsWaiting {
  count?: number
  age?: string
}
export interface Stops {
  window?: string
  factor?: number
  difference?: number
  least?: number
}

export const noticesSection = Type.Object(
  {
    webhook: Type.Optional(webhookSection),
    email: Type.Optional(
      Type.Object(
        {
          host,
          port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65535, accepts: '1 to 65535' })),
          tls: Type.Optional(choice(mailSecurities)),
          ca: Type.Optional(file),
          user: Type.Optional(text('the name that the server knows')),
          password: Type.Optional(text('the password of user')),
          from: address,
          to: Type.Array(address, { minItems: 1, maxItems: 20, accepts: 'a list of 1 to 20 e-mail addresses' })
        },
        closed
      )
    ),
    every: Type.Optional(timeout),
    remind: Type.Optional(period),
    reviews_waiting: Type.Optional(
      Type.Unsafe<'off' | ReviewsWaiting>({
        anyOf: [off, Type.Object({ count: Type.Optional(count), age: Type.Optional(period) }, closed)],
        accepts: 'off, or { count: 1 to 1000000, age: more than 0, at most 366d }'
      })
    ),
    dead_letters: Type.Optional(Type.Unsafe<'off' | number>({ anyOf: [off, count], accepts: 'off, or 1 to 1000000' })),
    storage_down: Type.Optional(
      Type.Unsafe<string>({ anyOf: [off, period], accepts: 'off, or a duration such as 1m' })
    ),
    stops: Type.Optional(
      Type.Unsafe<'off' | Stops>({
        anyOf: [
          off,
          Type.Object(
            {
              window: Type.Optional(period),
              factor: Type.Optional(Type.Number({ minimum: 1.1, maximum: 100 })),
              difference: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
              least: Type.Optional(count)
            },
            closed
          )
        ],
        accepts: 'off, or { window: 10m to 24h, factor: 1.1 to 100, difference: 0 to 1, least: 1 to 1000000 }'
      })
    ),
    keys_expiring: Type.Optional(
      Type.Unsafe<string>({ anyOf: [off, period], accepts: 'off, or a duration such as 7d' })
    ),
    failing: Type.Optional(choice(['on', 'off']))
  },
  closed
)

const ms = (text: string) => parseDuration(text) as number
const unlessOff = <T, R>(value: T | 'off', read: (value: T) => R): R | undefined =>
  value === 'off' ? undefined : read(value as T)

/** @param folder what paths are relative to */
export function compileNotices({ notices = {} }: FileConfig, folder: string, fail: Fail): Settings['notices'] {
  const { webhook, stops = {} } = notices
  const everyMs = ms(notices.every ?? '30s')
  if (everyMs > mostEveryMs) fail(['notices', 'every'], 'is not valid (at most 1h: 500ms, 5s, 10m)')
  return {
    webhook: webhook === undefined ? undefined : { ...webhook, format: webhook.format ?? 'json' },
    email: compileEmail(notices.email, folder, fail),
    everyMs,
    remindMs: ms(notices.remind ?? '24h'),
    reviewsWaiting: unlessOff(notices.reviews_waiting ?? {}, ({ count = 50, age = '4h' }: ReviewsWaiting) => ({
      count,
      ageMs: ms(age)
    })),
    deadLetters: unlessOff(notices.dead_letters ?? 1, (least: number) => least),
    storageDownMs: unlessOff(notices.storage_down ?? '1m', ms),
    stops: unlessOff(stops, ({ window = '1h', factor = 3, difference = 0.05, least = 100 }: Stops) => {
      const windowMs = ms(window)
      if (windowMs % windowStepMs !== 0 || windowMs > mostWindowMs)
        fail(['notices', 'stops', 'window'], 'is not valid (whole steps of 10m, at most 24h)')
      return { windowMs, factor, difference, least }
    }),
    keysExpiringMs: unlessOff(notices.keys_expiring ?? '7d', ms),
    failing: notices.failing !== 'off'
  }
}

type FileEmail = NonNullable<NonNullable<FileConfig['notices']>['email']>

function compileEmail(given: FileEmail | undefined, folder: string, fail: Fail): Settings['notices']['email'] {
  if (given === undefined) return undefined
  const at = ['notices', 'email']
  const { host, tls = 'starttls', user, password, from, to } = given
  if (tls === 'none' && !isLoopbackHost(host)) {
    fail([...at, 'tls'], 'is none, and the server is not on this machine: starttls or implicit')
  }
  if ((user === undefined) !== (password === undefined)) fail(at, 'needs user and password together')
  const { ca } = readTls(given.ca === undefined ? {} : { ca: given.ca }, folder, at, fail)
  return {
    host,
    port: given.port ?? { starttls: 587, implicit: 465, none: 25 }[tls],
    tls,
    ca,
    login: user === undefined || password === undefined ? undefined : { user, password },
    from,
    to
  }
}
