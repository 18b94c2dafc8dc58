/** `sluicegate evaluate`: the evaluator of the endpoint on one text or on lines of standard input. Creates no review. */
import { buffer } from 'node:stream/consumers'
import type { Json, JsonObject } from '../base/chat.js'
import { type Clock, systemClock } from '../base/clock.js'
import type { Settings } from '../base/settings.js'
import { isShipped, loadSettings, shippedConstitutions } from '../config/load.js'
import { type EvaluateInput, namesOff, readEvaluateInput, readText } from '../edge/evaluate-input.js'
import { noReport as noEncoderReport, type OpenEncoder, openEncoder } from '../encoder/open.js'
import { decodeUtf8, parseJson } from '../json/parse.js'
import { noReport } from '../judges/consult.js'
import { openJudges } from '../judges/open.js'
import { createEvaluator, type PolicyEvaluator } from '../policy/evaluate/evaluator.js'
import type { Evaluation, EvaluationInput } from '../policy/evaluation.js'
import type { Explanation } from '../policy/explain/explain.js'
import { page } from './explanation.js'
import { type Evaluate, evaluateLines } from './jsonl.js'
import { print, UsageError } from './terminal.js'

export interface EvaluateOptions {
  context?: string
  constitution: string
  explain?: true
  json?: true
  jsonl?: true
}

export async function evaluate(text: string | undefined, options: EvaluateOptions): Promise<void> {
  if (options.jsonl && (text !== undefined || options.context !== undefined)) {
    throw new UsageError('with --jsonl, texts and contexts come from standard input: no text and no --context')
  }
  if (!options.jsonl && text === undefined)
    throw new UsageError('a text is needed, or - for standard input, or --jsonl')

  const settings = loadSettings({ env: process.env, cwd: process.cwd() })
  const file = constitutionFile(settings, options.constitution)
  const clock = systemClock
  const judges = await openJudges(settings.judges, { clock, report: noReport })
  let reader: OpenEncoder | undefined
  let evaluator: PolicyEvaluator | undefined
  try {
    reader = await openCommandEncoder(settings, clock)
    const { encoder } = reader
    const constitutions = { [options.constitution]: file }
    // Not the number that the text declares: the store may have given it to another text, by which a server judges.
    const version = isShipped(file) ? 'shipped' : 'file'
    evaluator = await createEvaluator({ constitutions, version, clock, judges, encoder })
    const run = createEvaluate(evaluator, options, settings.encoder.use === 'off')
    if (options.jsonl) await evaluateLines(process.stdin, run)
    else await print(show(await run(await readInput(text ?? '', options.context)), options.json === true))
  } finally {
    await evaluator?.close()
    await reader?.close()
    await judges.close()
  }
}

/** Without a deadline: a person at a terminal waits. */
async function openCommandEncoder({ encoder }: Settings, clock: Clock): Promise<OpenEncoder> {
  const deadlineMs = Number.POSITIVE_INFINITY
  const opened = await openEncoder({ ...encoder, deadlineMs }, { clock, report: noEncoderReport, crashed() {} })
  if (opened.weakening !== undefined) process.stderr.write(`sluicegate: ${opened.weakening}\n`)
  return opened
}

function constitutionFile(settings: Settings, name: string): string {
  const constitutions = { ...shippedConstitutions(), ...settings.constitutions }
  const file = Object.hasOwn(constitutions, name) ? constitutions[name] : undefined
  if (file === undefined) {
    throw new UsageError(`there is no constitution "${name}" (${Object.keys(constitutions).join(', ')})`)
  }
  return file
}

async function readInput(text: string, context: string | undefined): Promise<EvaluateInput> {
  const value: JsonObject = { input_text: text === '-' ? decodeUtf8(await buffer(process.stdin), 'input_text') : text }
  if (context !== undefined) value['context'] = parseJson(context, { field: 'context' })
  return readEvaluateInput(value as Json)
}

function createEvaluate(evaluator: PolicyEvaluator, options: EvaluateOptions, isEncoderOff: boolean): Evaluate {
  const { constitution, explain } = options
  return async function evaluateInput({ input_text, context, session_id, detect }) {
    const names = detect?.includes('names') === true
    if (names && isEncoderOff) throw namesOff()
    const input: EvaluationInput = {
      ...readText(input_text, context),
      names,
      session: session_id === undefined ? undefined : `cli:${session_id}`
    }
    if (explain) {
      const explained = evaluator.explain(input, constitution)
      return explained.then(({ evaluation, explanation }) => ({ ...withoutPointers(evaluation), explain: explanation }))
    }
    return evaluator.evaluate(input, constitution).then(withoutPointers)
  }
}

/** A terminal gets a readable page, a pipe gets JSON. */
function show(outcome: object & { explain?: Explanation }, asJson: boolean): string {
  if (outcome.explain !== undefined && process.stdout.isTTY && !asJson) return page(outcome.explain)
  return `${JSON.stringify(outcome, null, 2)}\n`
}

/** With a single text a pointer would tell nothing. */
function withoutPointers(evaluation: Evaluation): Evaluation {
  return { ...evaluation, detections: evaluation.detections.map(({ pointer: _, ...detection }) => detection) }
}
