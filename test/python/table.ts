/** What the cells say: the promises that every package keeps, and the rows of the page. */
import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import type { Cell } from './lane.js'

const outcomes = ['forbid', 'divert', 'depends', 'withheld', 'held'] as const
type Stopped = (typeof outcomes)[number]

/** What an application reads of each, in whichever field its package puts it. */
const sentences: Record<Stopped, RegExp> = {
  forbid: /I'm sorry, but I can't help with this\.|This request was refused by the content policy\./,
  divert:
    /(?:Someone needs to look at this before it can be answered|This request is under review by a person)\.[\s\S]*rev_\w+/,
  depends: /What is this about\?|I can't tell what this is about|More context is needed[\s\S]*: topic/,
  withheld: /I'm sorry, but I can't give you an answer to this\.|This answer was withheld by the content policy\./,
  held: /Someone needs to look at this answer before you can read it\.[\s\S]*rev_\w+/
}
const codes = { forbid: 'content_filter', divert: 'review_required', depends: 'context_required' } as const
const filtered = /^(?:content_filter|refusal|SAFETY|PROHIBITED_CONTENT|ERROR)$/

/** Cells in which a package says less than the gateway told it; the page says what to do instead. */
const theirs: Record<string, RegExp> = {
  'openai, responses.stream, streamed, withheld': /response\.completed/,
  'openai, responses.stream, streamed, forbid': /response\.completed/,
  'openai-agents, responses, streamed, withheld': /response\.incomplete/,
  'openai-agents, responses, streamed, forbid': /response\.incomplete/
}

const nameOf = ({ package: name, way, streamed }: Cell) => `${name}, ${way}, ${streamed ? 'streamed' : 'whole'}`

function isTold(cell: Cell, outcome: Stopped): boolean {
  const { error, message = '', text = '', refusal = '', finish } = cell.seen
  if (sentences[outcome].test(`${text}\n${refusal}\n${message}`)) return true
  const isForbidden = outcome === 'forbid' || outcome === 'withheld'
  if (isForbidden && error === undefined && filtered.test(finish ?? '')) return true
  if (isForbidden && error === 'openai.ContentFilterFinishReasonError') return true
  return theirs[`${nameOf(cell)}, ${outcome}`]?.test(message) ?? false
}

/** Instructor's partial objects: an answer that holds none gives none. */
const isEmptyPartial = ({ package: name, streamed, seen }: Cell) =>
  name === 'instructor' && streamed && seen.error === undefined && seen.text === ''

export function checkCells(t: Test, cells: readonly Cell[], answer: string, asked = (_: Cell) => 1): void {
  for (const cell of cells) {
    const { outcome, respond, seen, how } = cell
    const name = `${nameOf(cell)}, ${how}, ${respond}, ${outcome}: ${JSON.stringify(seen)}`
    const problems: string[] = []
    if (cell.asked !== asked(cell)) problems.push(`asked ${cell.asked} times`)
    if (/crimson lantern|amber ledger/.test(JSON.stringify(seen))) problems.push('what was stopped is there')
    if (outcome === 'permit') {
      if (seen.text !== answer) problems.push('not what the model said')
    } else if (respond === 'error' && outcome in codes) {
      if (seen.error === undefined || seen.error.startsWith('builtins.')) problems.push('no error of the package')
      if (!sentences[outcome].test(seen.message ?? '')) problems.push('not our sentence')
      if (seen.code !== null && seen.code !== codes[outcome as keyof typeof codes]) problems.push('not our code')
    } else if (!isTold(cell, outcome) && !isEmptyPartial(cell)) problems.push('nothing is told')
    t.same(problems, [], name)
  }
}

/** What stands in the table for what was seen. */
function brief({ outcome, seen }: Cell): string {
  const { error, text = '', refusal = '', finish } = seen
  if (error !== undefined) return `\`${error.split('.').at(-1)}\``
  const isSaid = sentences[outcome as Stopped].test(text + refusal)
  const isRefusal = outcome === 'forbid' || outcome === 'withheld'
  if (isRefusal && filtered.test(finish ?? '')) return isSaid ? `\`${finish}\` and the sentence` : `\`${finish}\``
  return isSaid ? (text === '' ? 'refusal' : 'turn') : 'nothing'
}

function cellOf(cells: readonly Cell[]): string {
  const byWay = new Map<string, string[]>()
  for (const cell of cells) {
    const said = brief(cell)
    const way = cell.streamed ? 'streamed' : 'whole'
    byWay.set(said, [...(byWay.get(said) ?? []), `${way}, ${cell.how}`])
  }
  if (byWay.size === 1) return [...byWay.keys()][0]!
  const ways = ([said, at]: [string, string[]]) => {
    const kinds = new Set(at.map((each) => each.split(', ')[0]!))
    const isWholeKind = [...kinds].every((kind) =>
      [...byWay].every(([other, there]) => other === said || !there.some((each) => each.startsWith(kind)))
    )
    return `${isWholeKind ? [...kinds].join(', ') : at.join('; ')}: ${said}`
  }
  return [...byWay].map(ways).join('; ')
}

/** One row for each way of a package and each `respond`, a cell for each outcome. */
export function rowsOf(cells: readonly Cell[]): string[] {
  return [...grouped(cells).values()].map((own) => {
    const [{ package: name, way, respond }] = own as [Cell]
    const columns = outcomes.map((outcome) => cellOf(own.filter((cell) => cell.outcome === outcome)))
    return `| ${name}, ${way} | ${respond} | ${columns.join(' | ')} |`
  })
}

function grouped(cells: readonly Cell[]): Map<string, Cell[]> {
  const groups = new Map<string, Cell[]>()
  for (const cell of cells) {
    const key = `${cell.package}, ${cell.way}, ${cell.respond}`
    groups.set(key, [...(groups.get(key) ?? []), cell])
  }
  return groups
}

/** The page says of these packages what was seen, and nothing else. */
export function checkRows(t: Test, cells: readonly Cell[], name = 'docs/python.md'): void {
  const page = readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
  const seen = rowsOf(cells)
  const names = new Set(cells.map((cell) => cell.package))
  const ways = new Set(cells.map((cell) => cell.way))
  const isOwn = (line: string) => {
    const [, its = '', way = ''] = /^\| ([\w -]+), (.*) \| (?:error|message) \|/.exec(line) ?? []
    return names.has(its) && ways.has(way)
  }
  const listed = page.split('\n').filter(isOwn)
  t.same(listed.sort(), [...seen].sort(), `${name} has these rows:\n${seen.join('\n')}`)
}
