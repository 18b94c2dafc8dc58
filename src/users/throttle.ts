/**
 * Slows guessing down without locking anyone out. Failures are counted for each address and for each name; a browser
 * with an earlier sign-in has a device cookie and a count of its own, so that an attacker who guesses at a name cannot
 * lock out its owner (OWASP, "Slow Down Online Guessing Attacks with Device Cookies").
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../base/clock.js'
import type { Fault } from '../base/errors.js'
import { addressBucket } from '../identity/address.js'
import { failedSignInFault } from '../limits/fault.js'
import { createMemoryCounters } from '../storage/shared/local.js'

const windowMs = 10 * 60_000
/** Failures in a window. */
const perName = 10
const perDevice = 10
const perAddress = 30
/** Names and addresses that are remembered; attackers can invent more. */
const maxCounters = 20_000
/** 16 random bytes and the 32 of their signature, each in base64url. */
const deviceForm = /^([\w-]{22})\.[\w-]{43}$/

export interface Throttle {
  /**
   * Called before any password check.
   * @returns a refusal, or a function to call with the outcome: pending attempts count too, so that concurrent ones
   * gain nothing
   */
  begin(attempt: Attempt): Fault | ((succeeded: boolean) => void)
  /** The device cookie for a browser in which this name signed in. */
  deviceOf(login: string): string
}

export interface Attempt {
  /** In canonical form; empty: an invalid name, counted by address only. */
  login: string
  address: string
  /** The device cookie that the browser sent. */
  device: string | undefined
}

/** @param secret signs device cookies; the same over restarts */
export function createThrottle(clock: Clock, secret: Buffer): Throttle {
  const counters = createMemoryCounters({ clock, maxCounters, grainMs: 1000 })

  const mac = (nonce: string, login: string) => createHmac('sha256', secret).update(`${nonce}\n${login}`).digest()

  const deviceFor = (nonce: string, login: string): string => `${nonce}.${mac(nonce, login).toString('base64url')}`

  /**
   * The device that a cookie proves: the nonce that was given to a browser in which this name signed in. The whole
   * cookie is compared as text with its canonical form, so that one cookie cannot count as several devices.
   * @returns undefined for any other value
   */
  function provenDevice(cookie: string | undefined, login: string): string | undefined {
    const nonce = deviceForm.exec(cookie ?? '')?.[1]
    if (cookie === undefined || nonce === undefined) return undefined
    return timingSafeEqual(Buffer.from(cookie), Buffer.from(deviceFor(nonce, login))) ? nonce : undefined
  }

  function counted({ login, address, device: cookie }: Attempt): [counter: string, limit: number][] {
    const device = provenDevice(cookie, login)
    if (device !== undefined) return [[`device ${device}`, perDevice]]
    const byAddress: [string, number] = [`address ${addressBucket(address)}`, perAddress]
    return login === '' ? [byAddress] : [[`name ${login}`, perName], byAddress]
  }

  const underWay = new Map<string, number>()
  const inFlight = (counter: string, by: number) => {
    const now = (underWay.get(counter) ?? 0) + by
    if (now === 0) underWay.delete(counter)
    else underWay.set(counter, now)
  }

  return {
    begin(attempt) {
      const watched = counted(attempt)
      for (const [counter, limit] of watched) {
        const { remaining, resetMs } = counters.take(counter, 0, limit, windowMs)
        if (remaining - (underWay.get(counter) ?? 0) > 0) continue
        return failedSignInFault(limit, windowMs / 60_000, Math.max(1, Math.ceil(resetMs / 1000)))
      }
      for (const [counter] of watched) inFlight(counter, 1)
      return (succeeded) => {
        for (const [counter, limit] of watched) {
          inFlight(counter, -1)
          if (!succeeded) counters.take(counter, 1, limit, windowMs)
        }
      }
    },
    deviceOf(login) {
      return deviceFor(randomBytes(16).toString('base64url'), login)
    }
  }
}
