/** Compiles the section `notices`, whose schema is `notices-schema.ts`. */
import type { Settings } from '../base/settings.js'
import { isLoopbackHost, parseDuration } from '../base/units.js'
import type { ReviewsWaiting, Stops } from './notices-schema.js'
import type { Fail } from './problem.js'
import type { FileConfig } from './schema.js'
import { readTls } from './upstreams.js'

/** Longest time between two checks, so that an alert comes within the hour. */
const mostEveryMs = 3_600_000
/** `notices.stops` compares with data in steps of ten minutes. */
const windowStepMs = 600_000
const mostWindowMs = 24 * 3_600_000

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
