/** `sluicegate check`: everything that could keep a server from starting on this configuration, found without starting one. */
import { systemClock } from '../base/clock.js'
import type { Settings } from '../base/settings.js'
import { loadSettings, weakenings } from '../config/load.js'
import { ConfigError } from '../config/problem.js'
import { parseKey } from '../identity/key-format.js'
import { noReport } from '../judges/consult.js'
import { type OpenJudges, openJudges } from '../judges/open.js'
import { ConstitutionError } from '../policy/constitution-error.js'
import { createEvaluator } from '../policy/evaluator.js'
import { Told } from './terminal.js'

export async function check(file: string | undefined): Promise<void> {
  const problems: string[] = []
  let settings: Settings | undefined
  try {
    settings = loadSettings({ env: process.env, cwd: process.cwd(), ...(file === undefined ? {} : { file }) })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    problems.push(error.message)
  }
  const policies: string[] = []
  if (settings !== undefined) {
    if (settings.bootstrapKey !== undefined && parseKey(settings.bootstrapKey) === undefined) {
      problems.push('environment SLUICEGATE_BOOTSTRAP_KEY: is not a well-formed key')
    }
    const judges = await openJudges(settings.judges, { clock: systemClock, report: noReport }).catch((error: Error) => {
      problems.push(error.message)
    })
    for (const [name, path] of Object.entries(settings.constitutions)) {
      if (judges === undefined) break
      const outcome = await readConstitution(name, path, judges)
      if ('policy' in outcome) policies.push(outcome.policy)
      else problems.push(outcome.problem)
    }
    await judges?.close()
  }
  if (settings === undefined || problems.length > 0) {
    process.stderr.write(`${problems.join('\n')}\n`)
    throw new Told()
  }
  process.stdout.write(summary(settings, policies))
}

/** Compiles it as the server does: a pattern may be well-formed and still not be one that runs in linear time. */
async function readConstitution(
  name: string,
  path: string,
  judges: OpenJudges
): Promise<{ policy: string } | { problem: string }> {
  try {
    const evaluator = await createEvaluator({ constitutions: { [name]: path }, clock: systemClock, judges })
    const [loaded] = evaluator.loaded()
    await evaluator.close()
    return { policy: `${loaded?.name}@${loaded?.version}` }
  } catch (error) {
    if (error instanceof ConstitutionError) return { problem: error.message }
    const { code, message } = error as NodeJS.ErrnoException
    return { problem: `${path} constitutions.${name}: cannot be read (${code ?? message})` }
  }
}

function summary(settings: Settings, policies: readonly string[]): string {
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
    ...weakenings(settings).map((weakening) => `weakened       ${weakening}`)
  ]
  return `${lines.join('\n')}\n`
}
