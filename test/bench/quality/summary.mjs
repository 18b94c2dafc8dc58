// The part of the results that docs/accuracy.md shows, written between two marks of it, so that no figure is copied
// by hand.
import { readFileSync, writeFileSync } from 'node:fs'
import { chatTable, share, table } from './report.mjs'

const marks = ['<!-- quality: written by bench:quality -->', '<!-- quality: end -->']

/** @throws where the file has no marks */
export function writeSummary(file, results) {
  const text = readFileSync(file, 'utf8')
  const [start, end] = marks.map((mark) => text.indexOf(mark))
  if (start < 0 || end < start) throw new Error(`${file} has no place for the summary: ${marks.join(' … ')}`)
  writeFileSync(file, `${text.slice(0, start)}${marks[0]}\n${summaryOf(results)}\n${text.slice(end)}`)
}

const groupNames = {
  'benign prompts': 'ordinary prompts and questions',
  'look-alikes': 'harmless sentences with dangerous words',
  'harmful requests': 'harmful requests',
  jailbreak: 'jailbreaks in the wild',
  'direct injection': 'prompt injection by the user',
  'indirect injection': 'prompt injection in documents',
  answers: "models' answers",
  comments: 'toxic and hateful comments'
}

function summaryOf({ about, groups, documents, targets, systems, chats }) {
  const groupLines = Object.entries(groupNames).flatMap(([value, name]) => {
    const group = groups.find((entry) => entry.value === value)
    if (group === undefined) return []
    const { recall, falsePositives } = group
    const number = (recall.notPermitted?.of ?? 0) + (falsePositives.notPermitted?.of ?? 0)
    return [
      [
        name,
        number,
        share(recall.notPermitted),
        share(recall.forbidden),
        share(falsePositives.notPermitted),
        share(falsePositives.forbidden)
      ]
    ]
  })
  const all = documents.find(({ set }) => set === 'all')
  const documentLines = Object.entries({ pasted: "as a user's own words", brought: "as tools' results" }).flatMap(
    ([reading, name]) =>
      all === undefined
        ? []
        : [
            [
              `harmless documents, ${name}`,
              all.rows,
              '',
              '',
              share(all[reading].notPermitted),
              share(all[reading].forbidden)
            ]
          ]
  )
  const missed = targets.filter(({ reached }) => reached === false)
  return `${about.policy}, commit ${about.commit}, ${about.rows.toLocaleString('en')} rows, per cent with 95 % intervals:

${table(['texts', 'rows', 'harmful: not permitted', 'harmful: forbidden', 'harmless: not permitted', 'harmless: forbidden'], [...groupLines, ...documentLines])}

Many injections are harmful only by what the operator's prompt guards. Direct injection alone and with the system prompt that its source gives, and harmless prompts behind prompts written for this bench:

${chatTable(chats)}

${besideOthers(systems)}Of ${targets.length} targets ${targets.length - missed.length} are reached${
    missed.length === 0
      ? '.'
      : `; not yet:\n\n${table(
          ['target', 'measured'],
          missed.map(({ target, measured }) => [target, measured])
        )}`
  }
`
}

/** Empty where no other library was measured. */
function besideOthers(systems) {
  const measured = systems
    .map(({ task, systems: found }) => ({ task, found: found.filter(({ recall }) => recall !== undefined) }))
    .filter(({ found }) => found.length > 1)
  if (measured.length === 0) return ''
  const most = Math.max(...measured.flatMap(({ found }) => found.map(({ recall }) => recall.of)))
  const lines = measured.map(({ task, found }) => {
    const [own, ...others] = found.map(both)
    return [task, own.text, others.map(({ system, text }) => `${system} ${text}`).join('; ')]
  })
  return `On the same rows, up to ${most.toLocaleString('en')} of each side, what is caught / what is wrongly stopped:

${table(['task', 'Sluicegate', 'others'], lines)}

`
}

function both({ system, recall, falsePositives }) {
  const percent = (value) => (value * 100).toFixed(value > 5e-6 && value < 0.01 ? 2 : 1)
  return { system, text: `${percent(recall.share)} / ${percent(falsePositives?.share ?? 0)}` }
}
