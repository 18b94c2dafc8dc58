/**
 * Opens the services that people work with, once per process: the review queue and its decisions, webhooks and mail
 * about them, users and their sign-in, and the upkeep of stored records.
 */
import type { ChatPart } from '../base/chat.js'
import type { Clock } from '../base/clock.js'
import { viewOf } from '../base/in-force.js'
import type { ReviewBound, Settings } from '../base/settings.js'
import { createHands } from '../identity/hands.js'
import { firstAccount, type SelfRotation } from '../identity/key-service.js'
import { mailSender } from '../notices/mail.js'
import { rotationMessages } from '../notices/messages.js'
import type { Log } from '../observe/log.js'
import { tellOutages, tellRound } from '../observe/outages.js'
import type { Evaluation } from '../policy/evaluation.js'
import { Adjudication } from '../review/adjudication.js'
import { Deliveries, type DeliveryOutcome } from '../review/deliveries.js'
import { ExceptionService } from '../review/exception-service.js'
import { createFingerprint, fingerprintsOf } from '../review/fingerprint.js'
import { ReviewService } from '../review/review-service.js'
import { delivery, keyRotated, rotationBody, webhookSender } from '../review/webhook.js'
import type { Keyring } from '../sealing/keyring.js'
import type { Seal } from '../sealing/seal.js'
import type { Channel, DeliveryRow, Storage } from '../storage/contracts/index.js'
import { createOidc, type Oidc } from '../users/oidc.js'
import { SessionService } from '../users/session-service.js'
import { createThrottle } from '../users/throttle.js'
import { UserService } from '../users/user-service.js'

/** How often this process reads exceptions that another process accepted. */
const refreshEveryMs = 5_000
const upkeepEveryMs = 3_600_000
/** Delayed, so that upkeep does not slow the start. */
const firstUpkeepMs = 60_000
/** Rows of the audit that one transaction removes. */
const pruneBatch = 5_000

export interface People {
  readonly reviews: ReviewService
  readonly adjudication: Adjudication
  readonly deliveries: Deliveries
  readonly exceptions: ExceptionService
  readonly users: UserService
  readonly sessions: SessionService
  /** Fingerprints of the texts that a decision was about. */
  fingerprints(evaluation: Evaluation, parts: readonly ChatPart[]): string[]
  /** Messages about a key that rotates itself, stored in the transaction of the rotation. */
  rotationNotices(rotation: SelfRotation): DeliveryRow[]
  /** Sends new messages of the outbox. */
  noticed(): void
  /** Sign-in by the provider of the configuration in force. */
  oidc(): Oidc | undefined
  /** The token of the first administrator's link; undefined where a user exists already. */
  firstInvitation(): Promise<string | undefined>
  /** Puts a new configuration in force. */
  adopt(settings: Settings): void
  /** Deletes records past their retention; a timer also calls it. */
  upkeep(): Promise<void>
  close(): Promise<void>
}

export interface PeopleOptions {
  storage: Storage
  clock: Clock
  log: Log
  settings: Settings
  keyring: Pick<Keyring, 'seal' | 'secrets'>
  /** Receives the outcome of each attempt to deliver. */
  delivered(outcome: DeliveryOutcome): void
  /** Receives the bound of the queue that was reached, each time a review is refused. */
  refused(bound: ReviewBound): void
  /** Deletes expired samples. @returns how many */
  purgeSamples(): Promise<number>
}

export function openPeople(options: PeopleOptions): People {
  const { storage, clock, log, settings: first, keyring, delivered, refused, purgeSamples } = options
  const { seal, secrets } = keyring
  /** Swapped as a whole by a reload. */
  let current = first
  const review = viewOf(() => current.review)
  const signIn = viewOf(() => current.signIn)
  let oidc = oidcOf(first, seal, clock)

  /** Channels whose last message was not accepted. */
  const refusing = new Set<Channel>()
  const deliveries = new Deliveries({
    deliveries: storage.deliveries,
    clock,
    senders() {
      const { webhook, email } = current.notices
      return {
        ...(review.webhook !== undefined && { review: webhookSender(review.webhook) }),
        ...(webhook !== undefined && { webhook: webhookSender(webhook) }),
        ...(email !== undefined && { email: mailSender(email) })
      }
    },
    outcome(outcome) {
      delivered(outcome)
      const { channel, result, error } = outcome
      if (result === 'delivered') {
        if (refusing.delete(channel)) log.info({ channel }, 'messages are accepted again')
      } else if (!refusing.has(channel)) {
        refusing.add(channel)
        log.warn({ channel, problem: error }, 'messages are not accepted: they are tried again for hours')
      }
    },
    rounds: tellOutages(log, 'messages to webhooks and by e-mail wait')
  })
  const noticed = () => deliveries.kick()
  const hands = createHands(storage.keys)
  const reviews = new ReviewService({ reviews: storage.reviews, clock, seal, settings: review, noticed, refused })
  const adjudication = new Adjudication({
    reviews: storage.reviews,
    queue: reviews,
    audit: storage.audit,
    clock,
    seal,
    hands,
    settings: review,
    noticed
  })
  const { users: store, audit } = storage
  const fingerprint = createFingerprint(secrets.fingerprints)
  const exceptions = new ExceptionService({
    exceptions: storage.exceptions,
    audit,
    clock,
    seal,
    fingerprint,
    hands,
    account: firstAccount,
    settings: review
  })
  const refreshes = tellOutages(log, 'exceptions that another process accepted are not in force here')
  const refreshing = setInterval(() => void tellRound(refreshes, () => exceptions.refresh()), refreshEveryMs)
  refreshing.unref()
  const users = new UserService({ users: store, audit, clock })
  const throttle = createThrottle(clock, secrets.deviceCookies)
  const sessions = new SessionService({ users: store, audit, clock, throttle, settings: signIn })

  /** True at the start: an earlier process may have ended between the two steps. */
  let isToScrub = true

  async function upkeep(): Promise<void> {
    const now = clock.now()
    const texts = await reviews.purge()
    let rows = 0
    for (let gone = pruneBatch; gone >= pruneBatch; ) {
      gone = await storage.audit.prune(now - current.audit.retentionMs, pruneBatch)
      rows += gone
    }
    const samples = await purgeSamples()
    await storage.deliveries.purge(now - review.retentionMs)
    await sessions.purge()
    isToScrub ||= texts > 0 || rows > 0 || samples > 0 || current.samples.what !== 'off'
    if (isToScrub) await storage.scrub()
    isToScrub = false
    // An attacker who can rewrite the store cannot rewrite copies of the log.
    for (const { node, position, hash } of await storage.audit.heads()) {
      log.info({ node, position, hash }, 'the end of the audit so far')
    }
    if (texts === 0 && rows === 0 && samples === 0) return
    const data = { review_texts: texts, audit_rows: rows, samples }
    audit.append({ at: now, kind: 'retention.applied', account: null, keyId: null, subject: null, data })
    log.info(data, 'records past their retention are deleted')
  }
  const upkeeps = tellOutages(log, 'records past their retention are not deleted')
  const tend = () => tellRound(upkeeps, upkeep)
  const soon = setTimeout(tend, firstUpkeepMs)
  const often = setInterval(tend, upkeepEveryMs)
  soon.unref()
  often.unref()

  return {
    reviews,
    adjudication,
    deliveries,
    exceptions,
    fingerprints: (evaluation, parts) => fingerprintsOf(fingerprint, evaluation, parts),
    users,
    sessions,
    oidc: () => oidc,
    rotationNotices(rotation) {
      const { webhook } = review
      const told = rotationMessages(rotation, { settings: current.notices, publicUrl: current.signIn.publicUrl })
      if (webhook === undefined) return told
      const { account, keyId: subject } = rotation.old
      const body = rotationBody(rotation, webhook.format)
      return [delivery(keyRotated, { account, subject, body }, rotation.at), ...told]
    },
    noticed,
    firstInvitation: () => users.firstInvitation(firstAccount),
    adopt(next) {
      current = next
      oidc = oidcOf(next, seal, clock)
      deliveries.kick()
    },
    upkeep,
    async close() {
      clearTimeout(soon)
      clearInterval(often)
      clearInterval(refreshing)
      await deliveries.close()
    }
  }
}

function oidcOf({ signIn }: Settings, seal: Seal, clock: Clock): Oidc | undefined {
  return signIn.oidc === undefined ? undefined : createOidc(signIn.oidc, seal, clock)
}
