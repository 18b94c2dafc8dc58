/** Opens the configured judges. */

import type { JudgeSettings, RemoteJudgeSettings } from '../base/settings.js'
import type { Judges } from '../policy/escalate/judges.js'
import type { Adapter } from './adapter.js'
import type { BreakerState } from './breaker.js'
import { type Consult, type ConsultDeps, createConsult } from './consult.js'
import { createGptOssSafeguard } from './gpt-oss-safeguard.js'
import { createGraniteGuardian } from './granite-guardian.js'
import { coverageOf } from './labels.js'
import { createLlamaGuard } from './llama-guard.js'
import { createModerations } from './moderations.js'
import { createOnnx } from './onnx.js'
import { createShieldGemma } from './shieldgemma.js'

const remote: Readonly<Record<RemoteJudgeSettings['type'], (settings: RemoteJudgeSettings) => Adapter>> = {
  'openai-moderation': createModerations,
  'llama-guard': createLlamaGuard,
  shieldgemma: createShieldGemma,
  'granite-guardian': createGraniteGuardian,
  'gpt-oss-safeguard': createGptOssSafeguard
}

export interface OpenJudges extends Judges {
  states(): { judge: string; state: BreakerState }[]
  close(): Promise<void>
}

/**
 * Remote judges get no request before the first question; a local model is loaded and tried at once.
 * @throws an Error that names the judge, where a local model cannot be loaded
 */
export async function openJudges(
  settings: Readonly<Record<string, JudgeSettings>>,
  deps: ConsultDeps
): Promise<OpenJudges> {
  const adapters: Adapter[] = []
  const consults = new Map<string, Consult>()
  const close = async () => void (await Promise.all(adapters.map((adapter) => adapter.close())))
  try {
    for (const [name, judge] of Object.entries(settings)) {
      const adapter = judge.type === 'onnx' ? await createOnnx(judge) : remote[judge.type](judge)
      adapters.push(adapter)
      consults.set(name, createConsult(judge, adapter, deps))
    }
  } catch (error) {
    await close()
    throw error
  }
  return {
    coverage: coverageOf(settings),
    sees: new Set(Object.values(settings).flatMap((judge) => (judge.type !== 'onnx' && judge.sees ? judge.name : []))),
    async consult(name, question) {
      const consult = consults.get(name)
      return consult === undefined ? { failure: 'unknown_judge' } : consult.ask(question)
    },
    states: () => [...consults].map(([judge, { state }]) => ({ judge, state })),
    close
  }
}
