/**
 * `sluicegate check`: finds everything that would keep a server from starting with this configuration, without starting
 * one.
 */
import { readFile } from 'node:fs/promises'
import { systemClock } from '../base/clock.js'
import type { Settings } from '../base/settings.js'
import { loadSettings, weakenings } from '../config/load.js'
import { ConfigError, type Rest } from '../config/problem.js'
import { parseKey } from '../identity/key-format.js'
import { noReport } from '../judges/consult.js'
import { type OpenJudges, openJudges } from '../judges/open.js'
import { ConstitutionError } from '../policy/constitution/problems.js'
import { loadPolicy } from '../policy/evaluate/entry.js'
import { Told } from './terminal.js'

export async function check(file: string | undefined): Promise<void> {
  const problems: string[] = []
  let settings: Settings | undefined
  let rest: Rest | undefined
  try {
    settings = loadSettings({ env: process.env, cwd: process.cwd(), ...(file === undefined ? {} : { file }) })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    problems.push(error.message)
    // A constitution that names a judge which could not be read would seem to be wrong itself.
    const isWhole = error.problems.every(({ path }) => !/^(?:judges|constitutions)\b/.test(path))
    if (isWhole) rest = error.rest
    if (rest === undefined) problems.push('The constitutions are not checked yet: correct this first.')
  }
  const policies: string[] = []
  const warnings: string[] = []
  if (settings !== undefined) rest = settings
  if (rest !== undefined) {
    if (settings?.bootstrapKey !== undefined && parseKey(settings.bootstrapKey) === undefined) {
      problems.push('environment SLUICEGATE_BOOTSTRAP_KEY: is not a well-formed key')
    }
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

/** Compiles it as the server does: a pattern may be well-formed and still not be one that runs in linear time. */
async function readConstitution(
  name: string,
  path: string,
  { coverage }: OpenJudges
): Promise<{ policy: string; warnings: string[] } | { problem: string }> {
  try {
    const { label, constitution } = await loadPolicy(await readFile(path, 'utf8'), path, { name, coverage })
    const warnings = constitution.warnings.map(({ line, column, path: place, message }) => {
      return `${path}:${line}:${column} ${place}: ${message}`
    })
    return { policy: label, warnings }
  } catch (error) {
    if (error instanceof ConstitutionError) return { problem: error.message }
    const { code, message } = error as NodeJS.ErrnoException
    return { problem: `${path} constitutions.${name}: cannot be read (${code ?? message})` }
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
