/**
 * Two hands, over everything that hands out a secret: who caused, minted, rotated, signed in, decided. The model beside
 * the program knows nothing of roots: it keeps, for each key and person, who could hold its secret.
 */
import type { Test } from 'tap'
import { newId } from '../../src/base/ids.js'
import type { Caller } from '../../src/identity/caller.js'
import { createHands } from '../../src/identity/hands.js'
import { Adjudication } from '../../src/review/adjudication.js'
import { ExceptionService } from '../../src/review/exception-service.js'
import { createFingerprint } from '../../src/review/fingerprint.js'
import { ReviewService } from '../../src/review/review-service.js'
import { createSeal } from '../../src/sealing/seal.js'
import type { Storage } from '../../src/storage/contracts/index.js'
import { unbounded } from '../../src/storage/contracts/reviews.js'
import { openMemory } from '../../src/storage/sqlite/open.js'
import { SessionService } from '../../src/users/session-service.js'
import { createThrottle } from '../../src/users/throttle.js'
import { UserService } from '../../src/users/user-service.js'
import { buildHouse, operator } from '../identity/support.js'
import { keyRow } from '../storage/storage-suite.js'

const day = 86_400_000

/** A key or a person, and who could act as them. */
interface Actor {
  name: string
  caller: Caller
  holders: ReadonlySet<string>
}

export const meet = (a: Actor, b: Actor): boolean => [...a.holders].some((holder) => b.holders.has(holder))

export async function openWorld(t: Test, given?: Storage) {
  const storage = given ?? (await openMemory())
  const house = await buildHouse(t, { storage })
  t.teardown(() => storage.close())
  const { clock, keys, admission } = house
  const { reviews, audit, users: store } = storage
  const seal = createSeal(Buffer.alloc(32, 7))
  const hands = createHands(storage.keys)
  const settings = {
    expiryMs: day,
    allowOwn: false,
    twoPerson: false,
    claimMs: 1,
    holdMs: 0,
    retentionMs: day,
    maxOpen: unbounded,
    webhook: undefined
  }
  const queue = new ReviewService({ reviews, clock, seal, settings })
  const desk = new Adjudication({ reviews, queue, audit, clock, seal, hands, settings })
  const fingerprint = createFingerprint(Buffer.alloc(32, 1))
  const { exceptions: table } = storage
  const exceptions = new ExceptionService({
    ...{ exceptions: table, audit, clock, seal, fingerprint, hands, account: 'default', settings }
  })
  const users = new UserService({ users: store, audit, clock })
  const throttle = createThrottle(clock, Buffer.alloc(32, 2))
  const times = { idleMs: day, absoluteMs: day, confirmMs: day }
  const sessions = new SessionService({ users: store, audit, clock, throttle, settings: times })
  let count = 0

  async function keyActor(name: string, key: string, holders: Iterable<string>): Promise<Actor> {
    const admitted = await admission.admit({ headers: { 'x-api-key': key }, address: '::1', scope: undefined, cost: 0 })
    if (!('caller' in admitted)) throw admitted
    return { name, caller: admitted.caller, holders: new Set(holders) }
  }
  /** Signs in with the link that the command line printed. */
  async function person(name: string): Promise<Actor> {
    const { token } = await users.invite(operator, 'admin')
    const user = await users.accept({
      token,
      login: `${name}.${++count}@example.org`,
      password: 'a long pass phrase 9'
    })
    const signedIn = await sessions.find((await sessions.begin(user, 'password')).token)
    return { name, caller: signedIn!.caller, holders: new Set([name]) }
  }
  const onCommandLine = async (name: string) =>
    keyActor(name, (await keys.create(operator, { name: 'command' })).key, [name])
  const mint = async (by: Actor, scopes = ['*']) =>
    keyActor(`minted by ${by.name}`, (await keys.create(by.caller, { name: 'minted', scopes })).key, by.holders)
  /** The owner of the old one goes on with the new one; whoever rotated it was shown it. */
  const rotate = async (old: Actor, by: Actor | undefined) =>
    keyActor(
      `${old.name} rotated by ${by?.name ?? 'the command line'}`,
      (await keys.rotate(by?.caller ?? operator, old.caller.keyId)).key,
      [...old.holders, ...(by?.holders ?? [])]
    )
  /** A key as a version before this one stored it. */
  const legacy = async (name: string) => {
    const row = keyRow({ account: 'default', scopes: ['*'], ipAllowlist: [] })
    await storage.keys.insert(row)
    const { keyId, lineage, roots } = (await storage.keys.get('default', row.keyId))!
    const { caller } = await onCommandLine('pattern')
    return { name, caller: { ...caller, keyId, lineage, roots }, holders: new Set([name]) }
  }

  const outcome = (work: Promise<{ status?: string; state?: string }>) =>
    work.then(
      ({ status, state }) => status ?? state,
      (error) => error.code as string
    )

  async function review(by: Actor, twoPerson: boolean, ...deciders: Actor[]): Promise<(string | undefined)[]> {
    settings.twoPerson = twoPerson
    const { keyId, lineage, accountId: account } = by.caller
    const evaluation = { risk_score: 0.5, matched_rules: [], detections: [] }
    const canonical = Buffer.from(`request ${++count}`)
    const asked = { surface: 'chat', account, keyId, lineage, route: '/r', policy: 'default@1', canonical } as const
    const { reviewId } = await queue.open({ ...asked, evaluation })
    const said = []
    for (const { caller } of deciders) {
      said.push(await outcome(desk.adjudicate(caller, { review_id: reviewId!, decision: 'permit' })))
    }
    return said
  }

  async function exception(hit: Actor, proposer: Actor, accepter: Actor): Promise<string | undefined> {
    const { keyId, lineage, accountId: account } = hit.caller
    const subject = newId('ev', clock.now())
    const data = { decision: 'forbid', policy: 'default@1', rules: ['r'], lineage, fingerprints: [`f${++count}`] }
    audit.append({ at: clock.now(), kind: 'evaluation', account, keyId, subject, data })
    const { record } = await exceptions.propose(proposer.caller, { evaluation_id: subject })
    const wanted = { decision: 'accept', scope: 'account' } as const
    return outcome(exceptions.decide(accepter.caller, record.exception_id, wanted))
  }

  return { house, person, onCommandLine, legacy, mint, rotate, review, exception }
}

type World = Awaited<ReturnType<typeof openWorld>>

/** What two acts can make of people and keys, a few steps deep. */
export async function populate({ person, onCommandLine, legacy, mint, rotate }: World): Promise<Actor[]> {
  const [anna, bela] = [await person('anna'), await person('bela')]
  const [c, d, old] = [await onCommandLine('c'), await onCommandLine('d'), await legacy('old')]
  const ofAnna = await mint(anna)
  const ofC = await mint(c)
  const narrow = await mint(ofC, ['pdp:adjudicate'])
  const selfRotated = await rotate(ofAnna, ofAnna)
  const given = await rotate(d, anna)
  const crossed = await rotate(await mint(bela), c)
  const ofBoth = await mint(crossed)
  const again = await rotate(ofC, undefined)
  const taken = await rotate(old, given)
  return [anna, bela, c, d, old, ofAnna, ofC, narrow, selfRotated, given, crossed, ofBoth, again, taken]
}

const shows = (expected: unknown, found: unknown) => JSON.stringify(expected) === JSON.stringify(found)

export async function checkHands(t: Test, world: World, actors: readonly Actor[], share: number): Promise<void> {
  let wrong = 0
  let checked = 0
  let stopped = 0
  const expect = (what: string, expected: unknown, found: unknown) => {
    checked++
    if (JSON.stringify(expected) !== JSON.stringify(['permitted'])) stopped++
    if (!shows(expected, found) && ++wrong < 5) t.same(found, expected, what)
  }
  let turn = 0
  const able = ({ caller }: Actor) => caller.scopes.includes('*')
  for (const cause of actors) {
    for (const one of actors) {
      const own = meet(cause, one)
      const alone = await world.review(cause, false, one)
      expect(`${cause.name} → ${one.name}`, [own ? 'own_review' : 'permitted'], alone)
      for (const two of actors) {
        if (++turn % share !== 0) continue
        const second = meet(cause, two)
          ? 'own_review'
          : own
            ? 'pending'
            : meet(one, two)
              ? 'second_person_required'
              : 'permitted'
        const said = await world.review(cause, true, one, two)
        expect(`${cause.name} → ${one.name} and ${two.name}`, [own ? 'own_review' : 'pending', second], said)
        if (!able(one) || !able(two)) continue
        const accepted = meet(cause, two) || meet(one, two) ? 'own_review' : 'accepted'
        expect(`${one.name} for ${cause.name} → ${two.name}`, accepted, await world.exception(cause, one, two))
      }
    }
  }
  t.equal(wrong, 0, `${checked} decisions`)
  t.ok(stopped > 0 && stopped < checked, 'some are stopped, and some are not')
}
