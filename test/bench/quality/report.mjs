// The results as Markdown. Shares are in per cent with their 95 % interval behind them.

/** One decimal, two below 1 %: there a tenth of a point is a tenth of all false positives. */
const percent = (value, digits = value > 5e-6 && value < 0.01 ? 2 : 1) => (value * 100).toFixed(digits)
/** A share in per cent with its interval. */
export const share = (rate) =>
  rate === undefined ? '' : `${percent(rate.share)} (${percent(rate.low)}–${percent(rate.high)})`
const area = (value) =>
  value === undefined ? '' : `${value.share.toFixed(3)} (${value.low.toFixed(3)}–${value.high.toFixed(3)})`

/** A Markdown table. */
export function table(heads, lines) {
  const row = (cells) => `| ${cells.map((cell) => String(cell ?? '')).join(' | ')} |`
  return [row(heads), row(heads.map(() => '---')), ...lines.map(row)].join('\n')
}

/** @returns the whole report */
export function toMarkdown(results) {
  const { about } = results
  const sections = [
    ['What was to be reached', targetTable(results)],
    ['Groups of sets', rateTable('group', results.groups)],
    ['Beside other open libraries', systemsTables(results.systems)],
    ['Cost', costTable(results.costs)],
    [
      'Every set',
      rateTable(
        'set',
        results.sets.map((entry) => ({ value: entry.set, ...entry }))
      )
    ],
    ['Areas', areaTable(results)],
    ['Categories', categoryTable(results.categories)],
    ['Kinds of text', rateTable('kind', results.kinds)],
    ['Languages', rateTable('language', results.languages)],
    ['Harmless documents', documentTable(results.documents)],
    ['Personal data and secrets', structuredTable(results.structured)],
    ['Direct injection as chats', chatTable(results.chats)],
    ['Disguises', disguiseTable(results.disguises)],
    ['Disguises by script', scriptTable(results.disguises)],
    ['Long texts', longTable(results.long)]
  ]
  const head = `# Quality\n\n${about.policy}, commit ${about.commit}, ${about.rows} rows of ${about.split}${about.quick ? ' (a fixed sample)' : ''}, Node ${about.node}, ${about.cpu}.`
  return `${head}\n\n${notes}\n${sections
    .filter(([, text]) => text !== '')
    .map(([title, text]) => `\n## ${title}\n\n${text}\n`)
    .join('')}`
}

const notes = `Shares are per cent with 95 % intervals: Wilson's for rates, a bootstrap over rows for areas.
"Not permitted" is \`depends\`, \`divert\` or \`forbid\`. A document of a source with hidden instructions is judged as a tool's
result, others as a user's own words (harmless ones in both roles: below), a model's answer as an answer, and where a source gives a system prompt it stands before the text; "as bare text" is the
same text alone, as the evaluate endpoint reads it without a role in the context. Languages are those that a source names; where it names none, the script
of most letters decides, and Latin letters count as English, since those sources are English.`

/** Harmless documents in the two roles in which they come. */
function documentTable(documents) {
  if (documents.length === 0) return ''
  return table(
    [
      'set',
      'rows',
      "as a user's own words: not permitted",
      'forbidden',
      "as a tool's result: not permitted",
      'forbidden'
    ],
    documents.map(({ set, rows, pasted, brought }) => [
      set,
      rows,
      share(pasted.notPermitted),
      share(pasted.forbidden),
      share(brought.notPermitted),
      share(brought.forbidden)
    ])
  )
}

/** What a chat's own system prompt changes: for attacks, and for harmless prompts behind prompts that guard something. */
export function chatTable({ attacks, behind }) {
  const lines = behind.map(({ kind, alone, notPermitted, forbidden }) => [
    `harmless prompts, the system prompt guards ${kind}`,
    notPermitted.of,
    share(alone),
    share(notPermitted),
    share(forbidden)
  ])
  if (attacks !== undefined) {
    const { bare, chat, forbidden } = attacks
    lines.unshift(['direct injection with its system prompt', chat.of, share(bare), share(chat), share(forbidden)])
  }
  return table(
    ['texts', 'rows', 'as bare text: not permitted', 'as a chat: not permitted', 'as a chat: forbidden'],
    lines
  )
}

const targetTable = ({ targets }) =>
  table(
    ['target', 'measured', 'reached'],
    targets.map(({ target, measured, reached }) => [
      target,
      measured,
      reached === undefined ? '–' : reached ? 'yes' : 'no'
    ])
  )

function rateTable(name, entries) {
  return table(
    [
      name,
      'rows',
      'recall: not permitted',
      'recall: forbidden',
      'as bare text: not permitted of harmful; of harmless',
      'false positives: not permitted',
      'false positives: forbidden'
    ],
    entries.map(({ value, rows, recall, falsePositives }) => [
      value,
      rows,
      share(recall.notPermitted),
      share(recall.forbidden),
      [recall.bare, falsePositives.bare].some(Boolean)
        ? `${share(recall.bare?.notPermitted) || '–'}; ${share(falsePositives.bare?.notPermitted) || '–'}`
        : '',
      share(falsePositives.notPermitted),
      share(falsePositives.forbidden)
    ])
  )
}

function areaTable({ sets, pooled, baselines }) {
  const lines = sets.flatMap(({ set, areas }) =>
    areas.map(({ name, auroc, auprc, positives }) => {
      const baseline = baselines?.get(`${set}/${name}`)
      return [
        set,
        name,
        auroc.of,
        positives,
        area(auroc),
        baseline?.auroc.toFixed(3),
        area(auprc),
        baseline?.auprc.toFixed(3)
      ]
    })
  )
  if (pooled !== undefined) {
    lines.push([
      `${pooled.sets} sets of comments pooled`,
      'unsafe',
      pooled.auroc.of,
      pooled.positives,
      area(pooled.auroc),
      '',
      area(pooled.auprc),
      ''
    ])
  }
  if (lines.length === 0) return ''
  return table(['set', 'score', 'rows', 'positive', 'AUROC', 'n-gram baseline', 'AUPRC', 'n-gram baseline'], lines)
}

const categoryTable = (categories) =>
  table(
    [
      'category',
      'positive',
      'negative',
      'not permitted',
      'forbidden',
      'scores in the category',
      'the same among negatives',
      'AUROC',
      'AUPRC'
    ],
    categories.map((entry) => [
      entry.category,
      entry.positives,
      entry.negatives,
      share(entry.notPermitted),
      share(entry.forbidden),
      share(entry.scored),
      share(entry.scoredAmongNegatives),
      area(entry.areas?.auroc),
      area(entry.areas?.auprc)
    ])
  )

function structuredTable(entries) {
  if (entries.length === 0) return ''
  return table(
    ['set', 'kind', 'rows', 'recall', 'precision', 'F1', 'F1 of naming this kind'],
    entries.map(({ set, kind, rows, recall, precision, f1, byKind }) => [
      set,
      kind,
      rows,
      recall.toFixed(3),
      precision.toFixed(3),
      f1.toFixed(3),
      byKind?.f1.toFixed(3)
    ])
  )
}

function systemsTables(tasks) {
  return tasks
    .map(({ task, systems }) => {
      const lines = systems.map(({ system, recall, falsePositives, failed }) =>
        failed === undefined
          ? [system, share(recall), recall?.of ?? 0, share(falsePositives), falsePositives?.of ?? 0]
          : [system, `did not run: ${failed}`, '', '', '']
      )
      return `### ${task}\n\n${table(['system', 'recall', 'of rows', 'false positives', 'of rows'], lines)}`
    })
    .join('\n\n')
}

function costTable(costs) {
  if (costs.length === 0) return ''
  const names = [...new Set(costs.flatMap(({ systems }) => systems.map(({ system }) => system)))]
  const cell = (size, name) => {
    const found = size.systems.find(({ system }) => system === name)
    return found?.micros === undefined ? '–' : found.micros.toFixed(found.micros < 100 ? 1 : 0)
  }
  return table(
    ['median µs per text', ...costs.map(({ size }) => `${size} characters`)],
    names.map((name) => [name, ...costs.map((size) => cell(size, name))])
  )
}

function disguiseTable(disguises) {
  if (disguises === undefined) return ''
  return table(
    [
      'disguise',
      'share of plain recall',
      'harmful texts',
      'benign texts',
      'benign false positives, points',
      'worst script, points'
    ],
    disguises.map(({ name, recall, benign, points, worst }) => [
      name,
      share(recall),
      recall?.of,
      benign,
      points.toFixed(2),
      worst.toFixed(2)
    ])
  )
}

function scriptTable(disguises) {
  if (disguises === undefined) return ''
  const scripts = [...new Set(disguises.flatMap(({ scripts }) => scripts.map(({ script }) => script)))]
  return table(
    ['disguise', ...scripts],
    disguises.map(({ name, scripts: found }) => [
      name,
      ...scripts.map((script) => {
        const entry = found.find((one) => one.script === script)
        if (entry === undefined) return ''
        const recall = entry.recall === undefined ? '–' : `${percent(entry.recall.share, 0)} of ${entry.recall.of}`
        return `${recall}; ${entry.points === undefined ? '–' : `${entry.points >= 0 ? '+' : ''}${entry.points.toFixed(1)}`}`
      })
    ])
  )
}

function longTable(long) {
  if (long === undefined) return ''
  const lines = long.results.map(({ place, caught, forbidden, difference }) => [
    place,
    share(caught),
    share(forbidden),
    [difference.lowest, difference.mean, difference.highest].map((value) => value.toFixed(3)).join(' / ')
  ])
  const text = table(['place', 'still caught', 'still forbidden', 'score difference: lowest / mean / highest'], lines)
  const { characters, texts, prose, uncovered } = long
  return `${prose.stopped} of ${prose.of} benign texts of ${characters.toLocaleString('en')} characters, put together from prompts that are permitted one by one, are not permitted. In one that is, ${texts} harmful texts that are caught alone. Characters not looked at: ${uncovered}.\n\n${text}`
}
