/**
 * `sluicegate constitutions`: the constitution service directly on the store, with the rights of a person who may open
 * it.
 */
import { readFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { systemClock } from '../base/clock.js'
import { Fault } from '../base/errors.js'
import { isShipped } from '../config/load.js'
import { ConstitutionService } from '../constitutions/constitution-service.js'
import { Enforcement } from '../constitutions/enforcement.js'
import { type TrialReport, tryOut } from '../constitutions/trial.js'
import type { Actor } from '../identity/caller.js'
import { firstAccount } from '../identity/key-service.js'
import { decodeUtf8 } from '../json/parse.js'
import { noReport } from '../judges/consult.js'
import { openJudges } from '../judges/open.js'
import type { Problem } from '../policy/constitution/problems.js'
import { createDryRunner } from '../policy/explain/dry-run-pool.js'
import { commandSettings, openCommandStorage, tellRunning } from './store.js'
import { Told, UsageError } from './terminal.js'

interface CommonOptions {
  json?: true
}

const operator: Actor = { accountId: firstAccount, scopes: ['*'] }

export async function list(options: CommonOptions): Promise<void> {
  const { constitutions } = await withService(({ service }) => service.list(operator))
  show(options, constitutions, () =>
    constitutions.length === 0
      ? ['No constitutions in the store yet: a server stores its files when it starts.']
      : constitutions.map(
          ({ name, label, versions, latest_version: latest, activated_at: at, activated_origin: origin }) =>
            `${label ?? `${name}: none active`}  ${versions} versions, latest ${latest}${at === null ? '' : `, since ${at} by ${origin}`}`
        )
  )
}

export async function showVersion(name: string, version: string | undefined, options: CommonOptions): Promise<void> {
  const found = await withService<{ source?: string }>(({ service }) =>
    version === undefined ? service.get(operator, name) : service.version(operator, name, readVersion(version))
  )
  show(options, found, () => [(found.source ?? `No version of ${name} is active.`).trimEnd()])
}

export async function put(name: string, file: string, options: CommonOptions & { note?: string }): Promise<void> {
  const source = await readSource(file)
  const { created, version, warnings } = await withService(
    ({ service }) => service.put(operator, name, { source, note: options.note }),
    file
  )
  show(options, { ...version, warnings }, () => [
    ...warnings.map(({ line, column, path, message }) => `${file}:${line}:${column} ${path}: ${message}`),
    created ? `Stored as ${version.label}. What is in force stays so.` : `The same text as ${version.label}.`
  ])
}

export async function activate(name: string, version: string, options: CommonOptions): Promise<void> {
  const outcome = await withService(
    ({ service }) => service.activate(operator, name, { version: readVersion(version) }),
    `${name}@${version}`
  )
  const { label } = outcome.constitution
  show(options, outcome, () => [
    outcome.changed ? `${label} is in force, soon also in running servers.` : `${label} was in force already.`,
    ...(outcome.changed && outcome.previous !== null
      ? [`To roll back: sluicegate constitutions activate ${name} ${outcome.previous}`]
      : [])
  ])
}

/** Compares a candidate's decisions on texts from standard input, one per line. */
export async function test(name: string, candidate: string, options: CommonOptions): Promise<void> {
  const texts = decodeUtf8(await buffer(process.stdin), 'stdin')
    .split(/\r?\n/)
    .filter((line) => line !== '')
  if (texts.length === 0) throw new UsageError('no texts: give them on standard input, one a line')
  const isVersion = /^\d+$/.test(candidate)
  const request = isVersion ? { version: readVersion(candidate) } : { source: await readSource(candidate) }
  const report = await withService(({ trial }) => tryOut(trial, operator, name, { texts, ...request }), candidate)
  show(options, report, () => reportLines(report))
}

function reportLines({ active, candidate, results, diff }: TrialReport): string[] {
  const changed = results
    .filter((result) => result.changed)
    .map(
      (result) =>
        `line ${result.index + 1}: ${result.active?.decision ?? 'error'} → ${result.candidate?.decision ?? 'error'}`
    )
  const sum =
    diff === null
      ? `${results.length} texts by ${candidate?.label}; no version is active to compare with`
      : `${diff.changed} of ${results.length} change from ${active?.label} to ${candidate?.label}: ${diff.stricter} stricter, ${diff.milder} milder`
  return [...changed, sum]
}

interface Services {
  service: ConstitutionService
  trial: Parameters<typeof tryOut>[0]
}

/** @param source names the text in problems */
async function withService<T>(use: (services: Services) => Promise<T>, source = ''): Promise<T> {
  const settings = commandSettings()
  const clock = systemClock
  const judges = await openJudges(settings.judges, { clock, report: noReport })
  const storage = await openCommandStorage(settings)
  const runner = createDryRunner()
  try {
    const store = storage.constitutions
    const enforcement = new Enforcement(
      { store, account: firstAccount, clock, isShipped, adopted() {}, followed() {} },
      judges.coverage
    )
    const { audit } = storage
    const service = new ConstitutionService({
      store,
      account: firstAccount,
      audit,
      clock,
      enforcement,
      origin: 'command',
      changed: () => tellRunning(settings, { kind: 'constitution' })
    })
    return await use({ service, trial: { constitutions: service, enforcement, runner } })
  } catch (error) {
    throw told(error, source)
  } finally {
    await runner.close()
    await storage.close()
    await judges.close()
  }
}

/** Every problem of a text, a line each, as `sluicegate check` writes them. */
function told(error: unknown, source: string): unknown {
  const problems = error instanceof Fault ? (error.fields['problems'] as readonly Problem[] | undefined) : undefined
  if (problems === undefined) return error
  const lines = problems.map(
    ({ line, column, path, message }) => `${source}:${line}:${column} ${path === '' ? '' : `${path}: `}${message}`
  )
  process.stderr.write(`The constitution is not valid.\n${lines.join('\n')}\n`)
  return new Told()
}

async function readSource(file: string): Promise<string> {
  try {
    return decodeUtf8(file === '-' ? await buffer(process.stdin) : readFileSync(file), 'source')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (error instanceof Fault || code === undefined) throw error
    throw new UsageError(`${file} cannot be read (${code})`)
  }
}

function readVersion(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new UsageError('a version is a whole number from 1 on')
  return Number(text)
}

function show(options: CommonOptions, value: object, lines: () => string[]): void {
  process.stdout.write(options.json ? `${JSON.stringify(value, null, 2)}\n` : `${lines().join('\n')}\n`)
}
