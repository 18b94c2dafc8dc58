// Sluicegate's own evaluator, in this process, over the built program and its shipped constitution.

import { fileURLToPath } from 'node:url'

/** A module of the built program. */
export const dist = (name) => import(new URL(`../../../dist/${name}`, import.meta.url).href)

/**
 * As `sluicegate evaluate` opens it: one of the shipped constitutions and the shipped encoder, no judge beside them.
 * @param use of the encoder: `required`, or `off` for the first reader alone
 */
export async function openEvaluator(constitution = 'default', use = 'required') {
  const { createEvaluator } = await dist('policy/evaluate/evaluator.js')
  const { shippedConstitutions } = await dist('config/load.js')
  const { systemClock } = await dist('base/clock.js')
  const constitutions = shippedConstitutions()
  const file = constitution.endsWith('.yaml') ? constitution : constitutions[constitution]
  if (file === undefined)
    throw new Error(`no constitution "${constitution}" (${Object.keys(constitutions).join(', ')}, or a file in YAML)`)
  const { name, bands } = await readPolicy(file)
  const { openEncoder, noReport } = await dist('encoder/open.js')
  const settings = {
    use,
    folder: fileURLToPath(new URL('../../../config/models', import.meta.url)),
    threads: 1,
    queue: 4096
  }
  const reader = await openEncoder(
    { ...settings, deadlineMs: Number.POSITIVE_INFINITY },
    { clock: systemClock, report: noReport, crashed() {} }
  )
  // Long rows are judged in a thread; on a busy machine a thread's first text waits for its start.
  const evaluator = await createEvaluator({
    constitutions: { [name]: file },
    clock: systemClock,
    deadlineMs: 30_000,
    encoder: reader.encoder
  })
  return {
    evaluator,
    middle: bands.middle,
    label: evaluator.loaded().map(({ name, version }) => `${name}@${version}`)[0],
    judge: (input) => judge(evaluator, input, name),
    evaluate: (input) => evaluator.evaluate(input, name),
    isRaised: (input) => isRaised(evaluator, input, name),
    uncovered: () => evaluator.uncoveredChars(),
    close: async () => {
      await evaluator.close()
      await reader.close()
    }
  }
}

/** Whether the encoder is asked about any of it. */
async function isRaised(evaluator, input, name) {
  let asked = false
  await evaluator.evaluate(
    {
      ...input,
      raised() {
        asked = true
      }
    },
    name
  )
  return asked
}

async function readPolicy(file) {
  const { readFile } = await import('node:fs/promises')
  const { readConstitution } = await dist('policy/constitution/read.js')
  return readConstitution(await readFile(file, 'utf8'), file)
}

/** The detectors by themselves, for the kinds of what they find: a detection of an evaluation names its category only. */
export async function detectors() {
  const { personalData } = await dist('detectors/personal-data.js')
  const { secrets } = await dist('detectors/secrets.js')
  return { personal_data: personalData, secrets }
}

const { readText } = await dist('edge/evaluate-input.js')

/** The body's only text without context, exactly as the evaluate endpoint and `sluicegate evaluate` read it. */
export const bareText = (text) => ({ ...readText(text, undefined), session: undefined })

/** A row as it would travel through a chat route: a document is a tool's result, an answer is judged as one, and a system prompt stands before. */
export function asChat(row) {
  const parts = [{ role: row.role, text: row.text, pointer: '/messages/1/content' }]
  if (typeof row.context.system === 'string' && row.context.system !== '') {
    parts.unshift({ role: 'system', text: row.context.system, pointer: '/messages/0/content' })
  }
  return { ...bareText(''), parts, direction: row.role === 'assistant' ? 'answer' : 'request' }
}

/** Whether a row's chat reading differs from that of the bare text. */
export const hasRole = (row) => row.role !== 'user' || typeof row.context.system === 'string'

/** What the tables need of an evaluation, without any text. */
async function judge(evaluator, input, name) {
  const { decision, risk_score: risk, scores } = await evaluator.evaluate(input, name)
  return { decision, caught: decision !== 'permit', forbidden: decision === 'forbid', risk, scores }
}
