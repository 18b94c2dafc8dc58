/**
 * `sluicegate check`: finds everything that would keep a server from starting with this configuration, without starting
 * one.
 */
import { systemClock } from '../base/clock.js'
import type { Settings } from '../base/settings.js'
import { loadSettings, weakenings } from '../config/load.js'
import { ConfigError, type Rest } from '../config/problem.js'
import { readNamed } from '../constitutions/files.js'
import { parseKey } from '../identity/key-format.js'
import { noReport } from '../judges/consult.js'
import { type OpenJudges, openJudges } from '../judges/open.js'
import { checkReaders } from '../main/media-readers.js'
import { checkSecondReader } from '../main/second-reader.js'
import { loadPolicy } from '../policy/evaluate/entry.js'
import { Told } from './terminal.js'

export async function check(file: string | undefined): Promise<void> {
  const problems: string[] = []
  let settings: Settings | undefined
  /** What could be read, and the same where constitutions can be held against it. */
  let readable: Rest | undefined
  let rest: Rest | undefined
  try {
    settings = loadSettings({ env: process.env, cwd: process.cwd(), ...(file === undefined ? {} : { file }) })
    readable = settings
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    problems.push(error.message)
    readable = error.rest
    // A constitution that names a judge which could not be read would seem to be wrong itself.
    const isWhole = error.problems.every(({ path }) => !/^(?:judges|constitutions)\b/.test(path))
    if (isWhole) rest = error.rest
    if (rest === undefined) problems.push('The constitutions are not checked yet: correct this first.')
  }
  const policies: string[] = []
  const warnings: string[] = []
  if (settings !== undefined) rest = settings
  if (readable !== undefined) problems.push(...(await missing(readable)))
  if (rest !== undefined) {
    const judges = await openJudges(rest.judges, { clock: systemClock, report: noReport }).catch((error: Error) => {
      problems.push(error.message)
    })
    for (const [name, path] of Object.entries(rest.constitutions)) {
      if (judges === undefined) break
      const outcome = await readConstitution(name, path, judges)
      if ('problem' in outcome) problems.push(outcome.problem)
      else {
        policies.push(outcome.policy)
        warnings.push(...outcome.warnings)
      }
    }
    await judges?.close()
  }
  if (settings === undefined || problems.length > 0) {
    process.stderr.write(`${problems.join('\n')}\n`)
    throw new Told()
  }
  warnings.unshift(...settings.unknownVariables.map((one) => `environment ${one}: is not known, and read by nothing`))
  process.stdout.write(summary(settings, policies, warnings))
}

/** What a start needs besides: a key, the files of the encoder, the packages that read files. */
async function missing(settings: Rest): Promise<string[]> {
  const problems: string[] = []
  if (settings.bootstrapKey !== undefined && parseKey(settings.bootstrapKey) === undefined) {
    problems.push('environment SLUICEGATE_BOOTSTRAP_KEY: is not a well-formed key')
  }
  for (const look of [checkSecondReader, checkReaders]) {
    try {
      await look(settings)
    } catch (error) {
      problems.push((error as Error).message)
    }
  }
  return problems
}

/** Compiles it as the server does: a pattern may be well-formed and still not be one that runs in linear time. */
async function readConstitution(
  name: string,
  path: string,
  { coverage }: OpenJudges
): Promise<{ policy: string; warnings: string[] } | { problem: string }> {
  try {
    const { label, constitution } = await loadPolicy(await readNamed(name, path), path, { name, coverage })
    const warnings = constitution.warnings.map(({ line, column, path: place, message }) => {
      return `${path}:${line}:${column} ${place}: ${message}`
    })
    return { policy: label, warnings }
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

function summary(settings: Settings, policies: readonly string[], warnings: readonly string[]): string {
  const upstreams = Object.values(settings.upstreams).map(({ name, url }) => `${name} (${url})`)
  const lines = [
    'ok',
    `file           ${settings.file ?? 'none: the defaults'}`,
    `listens        ${settings.server.host}:${settings.server.port}, operations ${settings.ops.host}:${settings.ops.port}`,
    `storage        ${settings.storage.url}`,
    `upstreams      ${settings.demo ? 'none: the built-in demo backend' : upstreams.join(', ')}`,
    `routes         ${settings.routes.map(({ id }) => id).join(', ')}`,
    `constitutions  ${policies.join(', ')}`,
    ...Object.values(settings.judges).map(({ name, type }) => `judge          ${name} (${type})`),
    ...weakenings(settings).map((weakening) => `weakened       ${weakening}`),
    ...warnings.map((warning) => `warning        ${warning}`)
  ]
  return `${lines.join('\n')}\n`
}
