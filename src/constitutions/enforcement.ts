/**
 * Keeps the constitutions of this process in force: takes files of the configuration and versions of the store, and
 * makes evaluators. A constitution is read and compiled completely before it comes into force, and holds for every call
 * that begins later.
 *
 * A new or changed file becomes a version and is put in force; while the file stays the same, the last activation
 * stays, over restarts too. A shipped file changes with an upgrade: a change found at the start does not replace a
 * version that someone activated.
 *
 * Nodes prepare a version when it is stored or about to be activated, and change over when the store says so.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../base/clock.js'
import type { Coverage } from '../policy/escalate/judges.js'
import { entryOf, loadPolicy, numbered, type PolicyEntry } from '../policy/evaluate/entry.js'
import type { PolicyEvaluator } from '../policy/evaluate/evaluator.js'
import type { Policy } from '../policy/match/compile.js'
import type { ConstitutionState, ConstitutionStore } from '../storage/contracts/constitutions.js'
import { type Ahead, createAhead } from './ahead.js'
import { changedFiles } from './files.js'
import { createQueue, onceAtATime } from './queue.js'
import { loadActive, loadStored } from './stored.js'

export interface Change {
  name: string
  from: number | null
  to: number
}

export interface EnforcementDeps {
  store: ConstitutionStore
  /** The account whose constitutions judge. */
  account: string
  clock: Clock
  /** Whether a file ships with the program. */
  isShipped(file: string): boolean
  /** Called when a file's constitution is put in force. */
  adopted(change: Change): void
  /** Called for every other activation in this process. */
  followed(change: Change): void
  /** Called for every stored version that was read, before it is in force. */
  read?(version: { name: string; version: number; ms: number }): void
  /** Called with entries without effect in a constitution that is put in force. */
  warned?(what: { name: string; version: number; warnings: readonly string[] }): void
}

interface Standing {
  version: number
  entry: PolicyEntry
}

export class Enforcement {
  readonly #deps: EnforcementDeps
  readonly #queue = createQueue()
  readonly #ahead: Ahead
  readonly #refreshing = onceAtATime(() => this.#refreshOnce())
  /** One entry per name, shared by all evaluators, also those of an old gateway that still ends its streams. */
  #standing = new Map<string, Standing>()
  readonly #evaluators = new Set<PolicyEvaluator>()
  #coverage: Coverage
  /** The names that the configuration has files for. */
  #named: ReadonlySet<string> = new Set()
  #bound: ReadonlyMap<string, string> = new Map()
  #revision = -1
  #isStart = true

  /** @param coverage the judges that a constitution may escalate to, until `open` sets them */
  constructor(deps: EnforcementDeps, coverage: Coverage = {}) {
    this.#deps = deps
    this.#coverage = coverage
    this.#ahead = createAhead(async (name, version) => {
      const begun = performance.now()
      const policy = await loadStored(deps, name, version, this.#coverage)
      deps.read?.({ name, version, ms: Math.round(performance.now() - begun) })
      return policy
    })
  }

  /** Reads, stores and activates one after another: of two activations at once, the later one stays. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(work)
  }

  get coverage(): Coverage {
    return this.#coverage
  }

  /** The version in force in this process; undefined without one of that name. */
  versionOf(name: string): number | undefined {
    return this.#standing.get(name)?.version
  }

  /**
   * Takes over changed files, all or none, and makes an evaluator of all constitutions in force. If any cannot be read,
   * nothing is stored or changed.
   * @param files YAML files by name
   * @throws ConstitutionError, or the file system's error
   */
  open(
    files: Readonly<Record<string, string>>,
    coverage: Coverage,
    create: (entries: Iterable<PolicyEntry>) => PolicyEvaluator
  ): Promise<PolicyEvaluator> {
    return this.exclusive(async () => {
      const { store, account, clock } = this.#deps
      const revision = await store.revision()
      await this.rebind()
      const before = new Map((await store.states(account)).map((state) => [state.name, state]))
      // Policies that were read for other judges would escalate to those.
      const sameJudges = isDeepStrictEqual(coverage, this.#coverage)
      const ready = sameJudges ? this.#standing : new Map<string, Standing>()
      const changed = await changedFiles(files, (name) => before.get(name)?.fileDigest, {
        account,
        coverage,
        now: clock.now(),
        displaces: (path) => !(this.#isStart && this.#deps.isShipped(path))
      })
      const stays = ({ name, activatedOrigin }: ConstitutionState) =>
        changed.get(name)?.file.displaces !== true && (!changed.has(name) || activatedOrigin !== 'file')
      const standing = new Map<string, Standing>()
      const named = new Set(Object.keys(files))
      for (const state of before.values()) {
        if (state.active !== null && isUsed(state, named) && stays(state))
          standing.set(state.name, await this.#standingOf(state.name, state.active, ready, coverage))
      }
      const adopted = await store.adopt(
        [...changed.values()].map(({ file }) => file),
        clock.now()
      )
      for (const state of await store.states(account)) {
        const { name, active } = state
        if (active === null || !isUsed(state, named) || standing.get(name)?.version === active) continue
        const policy = adopted.some((one) => one.name === name && one.to === active) && changed.get(name)?.policy
        standing.set(name, policy ? this.#stand(policy, active) : await this.#standingOf(name, active, ready, coverage))
      }
      if (!sameJudges) this.#ahead.clear()
      this.#standing = standing
      this.#named = named
      this.#coverage = coverage
      this.#revision = revision
      this.#isStart = false
      for (const change of adopted) this.#deps.adopted(change)
      const evaluator = create([...standing.values()].map(({ entry }) => entry))
      this.#evaluators.add(evaluator)
      return evaluator
    })
  }

  /** The constitution that the store binds a route to. */
  boundTo(route: string): string | undefined {
    return this.#bound.get(route)
  }

  /** Takes over which constitution the store binds each route to. */
  async rebind(): Promise<void> {
    const { store, account } = this.#deps
    const said = await store.bindings(account)
    this.#bound = new Map(said.flatMap(({ route, name }) => (name === null ? [] : [[route, name]])))
  }

  /** The base of the version in force in this process, as `name@version`. */
  baseOf(name: string): string | undefined {
    return this.#standing.get(name)?.entry.engine.policy.constitution.base
  }

  /** Releases an evaluator that is no longer used. */
  release(evaluator: PolicyEvaluator): void {
    this.#evaluators.delete(evaluator)
  }

  /**
   * Puts a version in force in this process, if anything here can use it. Call it within `exclusive`, once the store
   * says so too.
   */
  put(policy: Policy, version: number, state: ConstitutionState): void {
    if (!isUsed(state, this.#named)) return
    const { name } = state
    const standing = this.#stand(policy, version)
    const before = this.#standing.get(name)
    const from = before?.version ?? null
    // Kept ready, since a rollback must not wait.
    if (before !== undefined) this.#ahead.keep(name, before.version, before.entry.engine.policy)
    this.#standing.set(name, standing)
    for (const evaluator of this.#evaluators) evaluator.put(standing.entry)
    this.#deps.followed({ name, from, to: version })
  }

  /** Reads and compiles a text that is not stored yet, under a name. @throws ConstitutionError */
  read(source: string, name: string): Promise<Policy> {
    return this.#ahead.inTurn(() => loadPolicy(source, name, { name, coverage: this.#coverage }))
  }

  /**
   * Reads the policy of a stored version and keeps it ready for `put`. Not within `exclusive`, since others would wait
   * for it.
   * @throws as `loadStored`
   */
  prepare(name: string, version: number): Promise<Policy> {
    const standing = this.#standing.get(name)
    return standing?.version === version
      ? Promise.resolve(standing.entry.engine.policy)
      : this.#ahead.policy(name, version)
  }

  /** Keeps a version ready that was read already. */
  keep(name: string, version: number, policy: Policy): void {
    this.#ahead.keep(name, version, policy)
  }

  /**
   * Follows activations of other processes on the same storage, and prepares versions that they stored. Cheap without
   * changes.
   */
  refresh(): Promise<void> {
    return this.#refreshing()
  }

  async #refreshOnce(): Promise<void> {
    if (this.#evaluators.size === 0) return
    const { store, account } = this.#deps
    const revision = await store.revision()
    if (revision === this.#revision) return
    let states = await store.states(account)
    for (let isDone = false; !isDone; ) {
      const failures: unknown[] = []
      const read = new Map<string, Policy>()
      const prepare = ({ name, active }: ConstitutionState) =>
        this.prepare(name, active!).then(
          (policy) => void read.set(`${name}@${active}`, policy),
          (error: unknown) => void failures.push(error)
        )
      await Promise.all(states.filter((state) => this.#isBehind(state)).map(prepare))
      await this.exclusive(async () => {
        // Read again, since other processes may have changed the store meanwhile.
        states = await store.states(account)
        for (const state of states) {
          const { name, active } = state
          const policy = read.get(`${name}@${active}`)
          if (policy !== undefined && this.#isBehind(state)) this.put(policy, active!, state)
        }
      })
      // An unreadable version does not hold back the others.
      if (failures.length > 0) {
        await this.rebind()
        throw failures[0]
      }
      isDone = !states.some((state) => this.#isBehind(state))
    }
    // Last, since the constitutions of bound routes must be in force first.
    await this.rebind()
    this.#revision = revision
    for (const { name, active, latest } of states) {
      if (latest === active || !this.#standing.has(name)) continue
      // Errors show when somebody activates the version.
      this.prepare(name, latest).catch(() => undefined)
    }
  }

  #isBehind(state: ConstitutionState): boolean {
    return state.active !== null && state.active !== this.versionOf(state.name) && isUsed(state, this.#named)
  }

  /** A version in force according to the store; not read again where it is `ready`. */
  async #standingOf(
    name: string,
    version: number,
    ready: ReadonlyMap<string, Standing>,
    coverage: Coverage
  ): Promise<Standing> {
    const standing = ready.get(name)
    if (standing?.version === version) return standing
    return this.#stand(await loadActive(this.#deps, name, version, coverage), version)
  }

  #stand(policy: Policy, version: number): Standing {
    const { name, warnings } = policy.constitution
    const said = warnings.map(({ path, message }) => `${path}: ${message}`)
    if (said.length > 0) this.#deps.warned?.({ name, version, warnings: said })
    return { version, entry: entryOf(numbered(policy, version)) }
  }
}

/** A constitution from a file is dropped once the configuration no longer names the file. */
function isUsed({ name, fileDigest }: ConstitutionState, named: ReadonlySet<string>): boolean {
  return fileDigest === null || named.has(name)
}
