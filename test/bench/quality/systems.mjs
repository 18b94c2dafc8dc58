// One table of tasks for all systems: texts to be caught and texts to be left alone, the same rows for each.
import { claims } from './libraries.mjs'
import { bareText } from './ours.mjs'
import { median, sample, wilson } from './stats.mjs'

/** A library has this long for each list of texts; what it did not get to is not counted, and the number of rows says so. */
const budgetMs = 6_000
const ofGroup = (group) => (row) => row.group === group
const ofLabel = (label, value) => (row) => row.labels[label] === value
const caught = ({ bare }) => bare.caught
const scores = (category) => (row, middle) => row.bare.scores[category] >= middle

/** `ours`: what counts as flagged. Personal data and profanity are permitted by the shipped policy and only noted, so there it is the detection. */
const tasks = [
  {
    name: 'harmful requests',
    positive: ofGroup('harmful requests'),
    negative: ofGroup('benign prompts'),
    ours: caught
  },
  { name: 'jailbreak', positive: ofGroup('jailbreak'), negative: ofGroup('benign prompts'), ours: caught },
  {
    name: 'direct injection',
    positive: ofGroup('direct injection'),
    negative: ofGroup('benign prompts'),
    ours: caught
  },
  {
    name: 'indirect injection',
    positive: ofGroup('indirect injection'),
    negative: ofGroup('benign documents'),
    ours: ({ chat, brought = chat }) => brought.caught
  },
  {
    name: 'profanity',
    positive: ofLabel('profanity', 1),
    negative: ofLabel('profanity', 0),
    ours: scores('profanity')
  },
  {
    name: 'personal data',
    positive: ofLabel('pii', 1),
    negative: ({ labels, set }) => labels.pii === 0 && set.startsWith('synth_'),
    ours: scores('personal_data')
  },
  {
    name: 'secrets',
    positive: ofLabel('secrets', 1),
    negative: ({ labels, set }) => labels.secrets === 0 && set === 'synth_secrets',
    ours: scores('secrets')
  }
]

/** @returns per task, each system's recall and false-positive rate on the same rows */
export async function compare(judged, { middle, libraries, log, most }) {
  const rows = [...judged.values()].flat()
  const results = []
  for (const { name, positive, negative, ours } of tasks) {
    const bad = shuffled(rows.filter(positive), most, 19)
    const good = shuffled(rows.filter(negative), most, 23)
    if (bad.length === 0 || good.length === 0) continue
    const count = (list) => list.filter((row) => ours(row, middle)).length
    const systems = [
      { system: 'sluicegate', recall: wilson(count(bad), bad.length), falsePositives: wilson(count(good), good.length) }
    ]
    for (const [system, what] of Object.entries(claims)) {
      if (libraries === undefined || !what.includes(name)) continue
      log(`${name}: ${system}`)
      try {
        systems.push({
          system,
          recall: await shareFlagged(libraries, system, bad),
          falsePositives: await shareFlagged(libraries, system, good)
        })
      } catch (error) {
        systems.push({ system, failed: error.message })
      }
    }
    results.push({ task: name, systems })
  }
  return results
}

/** In an order of chance, so that a library that runs out of time has seen a fair part. */
function shuffled(rows, most, seed) {
  const chosen = sample(rows, most, seed)
  return chosen
    .map((row, i) => ({ row, key: (i * 2_654_435_761) % 4_294_967_291 }))
    .sort((a, b) => a.key - b.key)
    .map(({ row }) => row)
}

async function shareFlagged(libraries, system, rows) {
  const flags = await libraries.ask(
    system,
    'judge',
    rows.map(({ text }) => text),
    budgetMs
  )
  return wilson(flags.filter(Boolean).length, flags.length)
}

const sizes = [200, 2000, 20_000]

/** Median µs per benign text of each size, every text different, ours and theirs one after another in this run. */
export async function costs(judged, { evaluate, libraries, log, rounds }) {
  const benign = [...judged.values()].flat().filter((row) => row.group === 'benign prompts' && row.script === 'Latin')
  if (benign.length < 20) return []
  const results = []
  for (const size of sizes) {
    const texts = textsOf(benign, size, rounds)
    for (const text of texts) await evaluate(bareText(`${text}.`))
    const times = []
    for (const text of texts) {
      const before = performance.now()
      await evaluate(bareText(text))
      times.push((performance.now() - before) * 1000)
    }
    const systems = [{ system: 'sluicegate', micros: median(times), rounds: times.length }]
    for (const system of libraries === undefined ? [] : Object.keys(claims)) {
      log(`cost at ${size}: ${system}`)
      try {
        const micros = await libraries.ask(system, 'cost', texts, budgetMs)
        systems.push({ system, micros: micros.length === 0 ? undefined : median(micros), rounds: micros.length })
      } catch (error) {
        systems.push({ system, failed: error.message })
      }
    }
    results.push({ size, systems })
  }
  return results
}

function textsOf(rows, size, count) {
  return Array.from({ length: count }, (_, i) => {
    let text = ''
    for (let at = i * 7; text.length < size; at++) text += `${rows[at % rows.length].text} `
    return text.slice(0, size)
  })
}
