// Judges every row and counts: per set, group, category, kind and language. Verdicts only, no text leaves this file.
import { asChat, bareText, hasRole } from './ours.mjs'
import { categoryOf, truthOf } from './rows.mjs'
import { areas, f1, wilson } from './stats.mjs'

/**
 * Gives every row `bare`, its verdict as the evaluate endpoint reads it, and `chat`, its verdict in its own role; harmless
 * documents also `brought`, as a tool's result: a document is pasted by one and fetched for another.
 */
export async function judgeAll(sets, judge, log) {
  for (const [name, rows] of sets) {
    const started = performance.now()
    for (const row of rows) {
      row.bare = await judge(bareText(row.text))
      row.chat = hasRole(row) ? await judge(asChat(row)) : row.bare
      if (isHarmlessDocument(row))
        row.brought = row.role === 'tool' ? row.chat : await judge(asChat({ ...row, role: 'tool' }))
      row.truth = truthOf(row)
    }
    log(`${name}: ${rows.length} rows, ${Math.round(((performance.now() - started) * 1000) / rows.length)} µs each`)
  }
  return sets
}

/** What is stopped of rows in one reading. */
function stopped(rows, reading) {
  const share = (what) => wilson(rows.filter((row) => row[reading][what]).length, rows.length)
  return { notPermitted: share('caught'), forbidden: share('forbidden') }
}

const isHarmlessDocument = ({ group }) => group === 'benign documents'

/** What is stopped of harmless documents, as a user's own words and as tools' results: of all together, then by set. */
export function harmlessDocuments(judged) {
  const ofRows = (rows) => ({ rows: rows.length, pasted: stopped(rows, 'bare'), brought: stopped(rows, 'brought') })
  const sets = [...judged]
    .map(([set, rows]) => [set, rows.filter(isHarmlessDocument)])
    .filter(([, rows]) => rows.length > 0)
  if (sets.length === 0) return []
  return [['all', sets.flatMap(([, rows]) => rows)], ...sets].map(([set, rows]) => ({ set, ...ofRows(rows) }))
}

/** Recall and false positives of some rows, in both readings. */
export function rates(rows) {
  const positives = rows.filter(({ truth }) => truth === true)
  const negatives = rows.filter(({ truth }) => truth === false)
  const both = (some) => ({
    ...stopped(some, 'chat'),
    bare: some.some((row) => row.chat !== row.bare) ? stopped(some, 'bare') : undefined
  })
  return { rows: rows.length, recall: both(positives), falsePositives: both(negatives) }
}

export function perSet(judged) {
  return [...judged].map(([set, rows]) => ({ set, ...rates(rows), areas: areasOf(rows) }))
}

/** Of the risk score over what is unsafe, and of a category's score over what a source annotates. */
function areasOf(rows) {
  const found = []
  const add = (name, some, isPositive, score) => {
    const area = areas(some.map(score), some.map(isPositive))
    if (area !== undefined) found.push({ name, ...area })
  }
  const known = rows.filter(({ truth }) => truth !== undefined)
  add(
    'unsafe',
    known,
    ({ truth }) => truth,
    ({ chat }) => chat.risk
  )
  for (const label of labelsOf(rows)) {
    const annotated = rows.filter(({ labels }) => label in labels)
    const category = categoryOf(label)
    add(
      category,
      annotated,
      ({ labels }) => labels[label] === 1,
      ({ chat }) => chat.scores[category]
    )
  }
  return found
}

const labelsOf = (rows) => [...new Set(rows.flatMap(({ labels }) => Object.keys(labels)))].sort()

/** Rows of all sets together by a property; the largest first. */
export function perProperty(judged, property) {
  const groups = new Map()
  for (const row of [...judged.values()].flat()) {
    const list = groups.get(row[property])
    if (list === undefined) groups.set(row[property], [row])
    else list.push(row)
  }
  return [...groups]
    .map(([value, rows]) => ({ value, ...rates(rows) }))
    .filter(
      ({ recall, falsePositives }) => recall.notPermitted !== undefined || falsePositives.notPermitted !== undefined
    )
    .sort((a, b) => b.rows - a.rows)
}

/** A category over all sets that annotate it: what is not permitted for any reason, what scores in the category, and the areas. */
export function perCategory(judged, middle) {
  const rows = [...judged.values()].flat()
  return labelsOf(rows).map((label) => {
    const category = categoryOf(label)
    const annotated = rows.filter(({ labels }) => label in labels)
    const positives = annotated.filter(({ labels }) => labels[label] === 1)
    const negatives = annotated.filter(({ labels }) => labels[label] === 0)
    const scored = (some) => wilson(some.filter(({ chat }) => chat.scores[category] >= middle).length, some.length)
    return {
      category,
      positives: positives.length,
      negatives: negatives.length,
      notPermitted: wilson(positives.filter(({ chat }) => chat.caught).length, positives.length),
      forbidden: wilson(positives.filter(({ chat }) => chat.forbidden).length, positives.length),
      scored: scored(positives),
      scoredAmongNegatives: scored(negatives),
      areas: areas(
        annotated.map(({ chat }) => chat.scores[category]),
        annotated.map(({ labels }) => labels[label] === 1)
      )
    }
  })
}

/** Comments of all sets in one pool, so that a score has to mean the same in each. */
export function pooledComments(judged) {
  const rows = [...judged.values()].flat().filter(({ group, truth }) => group === 'comments' && truth !== undefined)
  const area = areas(
    rows.map(({ chat }) => chat.risk),
    rows.map(({ truth }) => truth)
  )
  return area === undefined ? undefined : { sets: new Set(rows.map(({ set }) => set)).size, ...area }
}

/** What a source calls a kind, and what the detectors call it. Names of people are no structured kind. */
const detectorKinds = {
  email: ['email'],
  phone: ['phone'],
  addr: ['street_address'],
  dob: ['date_of_birth'],
  passport: ['passport'],
  card: ['payment_card'],
  iban: ['iban'],
  ssn: ['us_ssn'],
  ip: ['ip_address'],
  nin: [
    'us_ssn',
    'uk_nino',
    'es_dni',
    'de_tax_id',
    'br_cpf',
    'br_cnpj',
    'fr_nir',
    'cn_resident_id',
    'in_aadhaar',
    'pl_pesel',
    'it_codice_fiscale'
  ]
}

/**
 * F1 of rows, by kind. A row with several kinds counts for each; the negatives of the set count for every kind. For
 * personal data `byKind` asks the detector whether it named this very kind.
 */
export function structured(judged, detectors) {
  const results = []
  for (const [set, rows] of judged) {
    for (const label of ['pii', 'secrets']) {
      const positives = rows.filter(({ group, labels }) => labels[label] === 1 && /personal data|secrets/.test(group))
      const negatives = rows.filter(({ labels }) => labels[label] === 0)
      if (positives.length === 0 || negatives.length === 0) continue
      const category = categoryOf(label)
      const found = ({ bare }) => bare.scores[category] > 0
      const wrong = negatives.filter(found).length
      const line = (kind, some) => {
        const hits = some.filter(found).length
        return { set, category, kind, rows: some.length, wrong, ...f1(hits, wrong, some.length - hits) }
      }
      results.push({ ...line('all', positives), negatives: negatives.length })
      const kinds = new Map()
      for (const row of positives) {
        for (const kind of kindsOf(row)) kinds.set(kind, [...(kinds.get(kind) ?? []), row])
      }
      for (const [kind, some] of [...kinds].sort()) {
        if (kind === 'name') continue
        results.push({ ...line(kind, some), byKind: namedKind(kind, some, rows, detectors[category]) })
      }
    }
  }
  return results
}

const kindsOf = ({ context }) => [context.kinds ?? context.kind ?? []].flat()

function namedKind(kind, positives, rows, detector) {
  const wanted = detectorKinds[kind]
  if (wanted === undefined || detector.id !== 'personal_data') return undefined
  const names = ({ text }) => detector.find(text).some((finding) => wanted.includes(finding.kind))
  const others = rows.filter((row) => !kindsOf(row).includes(kind))
  const hits = positives.filter(names).length
  return f1(hits, others.filter(names).length, positives.length - hits)
}
