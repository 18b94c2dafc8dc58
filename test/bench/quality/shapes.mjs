// node test/bench/quality/shapes.mjs [--detectors FILE] [--side develop|held-back] [--misses N] [--rows N]
// Personal data and secrets in templates of the shapes of other people's sets. Templates are dealt by the hash of their text
// into a side to develop with and one held back. Prints precision, recall and F1 per kind; --misses shows texts of the
// develop side.
import { createHash } from 'node:crypto'
import { parseArgs } from 'node:util'
import { issued, privateKeys, values } from './shapes/issued.mjs'
import { data, namesOf, numbers } from './shapes/people.mjs'
import { randomFrom } from './shapes/random.mjs'
import { harmless, namedPlaces, tokenPlaces } from './shapes/secrets.mjs'
import { kindOf, nobody, personal } from './shapes/sentences.mjs'

const { values: options } = parseArgs({
  options: {
    detectors: { type: 'string', default: new URL('../../../dist/detectors/index.js', import.meta.url).href },
    side: { type: 'string', default: 'held-back' },
    misses: { type: 'string', default: '0' },
    rows: { type: 'string', default: '6' },
    least: { type: 'string', default: '0.5' }
  }
})
const { detectors } = await import(options.detectors)
const detectorOf = (id) => detectors.find((detector) => detector.id === id)
const random = randomFrom(20_260_101)
const rowsPerTemplate = Number(options.rows)
const least = Number(options.least)
const isHeldBack = (template) => createHash('sha256').update(template).digest()[0] % 2 === 1
const onSide = (template) => isHeldBack(template) === (options.side === 'held-back')
const show = options.side === 'develop' ? Number(options.misses) : 0

const templatesOf = (groups) => Object.values(groups).flat().filter(onSide)

/** Rows `{text, spans: [{from, to, kind}]}`; a harmless one has no spans. */
function secretRows() {
  const rows = []
  const places = templatesOf(tokenPlaces)
  const put = (place, value, kind) => {
    const from = place.indexOf('{}')
    const text = place.slice(0, from) + value + place.slice(from + 2)
    rows.push({ text, spans: [{ from, to: from + value.length, kind }] })
  }
  for (const [kind, make] of Object.entries(issued))
    for (let i = 0; i < 2 * rowsPerTemplate; i++) put(random.pick(places), make(random), kind)
  for (const [shape, list] of Object.entries(namedPlaces))
    for (const place of list.filter(onSide))
      for (const [name, make] of Object.entries(values))
        for (let i = 0; i < Math.ceil(rowsPerTemplate / 3); i++) {
          // Nobody writes random bytes into a chat about a wireless network, nor a phrase into a table of tokens.
          if (shape === 'chat' && name === 'base64') continue
          put(place, make(random), `named: ${shape}`)
        }
  for (const [kind, make] of Object.entries(privateKeys))
    for (let i = 0; i < 2; i++) {
      const key = make()
      rows.push({ text: `see below\n${key}\nthanks`, spans: [{ from: 10, to: 10 + key.length, kind }] })
    }
  for (const list of Object.values(harmless))
    for (const template of list.filter(onSide))
      for (let i = 0; i < rowsPerTemplate; i++) rows.push({ text: fillHarmless(template), spans: [] })
  return rows
}

function fillHarmless(template) {
  return template.replace(
    /\{(hex|base|digits|upper)(\d+)\}|\{(uuid|base64line|date|epoch|v)\}/g,
    (_, kind, size, other) => {
      const length = Number(size)
      if (kind === 'hex') return random.hex(length)
      if (kind === 'base') return random.base62(length)
      if (kind === 'digits') return random.int(1, 9) + random.digits(length - 1)
      if (kind === 'upper') return random.upper(length)
      if (other === 'base64line') return random.base64(64)
      if (other === 'date') return `${random.int(2015, 2025)}-0${random.int(1, 9)}-1${random.int(0, 9)}`
      if (other === 'epoch') return String(random.int(1_500_000_000, 1_790_000_000))
      if (other === 'v') return `${random.int(0, 20)}.${random.int(0, 30)}.${random.int(0, 9)}`
      return [8, 4, 4, 4, 12].map((n) => random.hex(n)).join('-')
    }
  )
}

function personalRows() {
  const rows = []
  const kinds = Object.keys(numbers)
  for (const template of templatesOf(personal)) {
    const repeats = template.includes('{id}') ? kinds : Array.from({ length: 2 * rowsPerTemplate })
    for (const id of repeats) {
      const spans = []
      const name = random.pick(namesOf[id] ?? ['x'])
      let text = ''
      let at = 0
      for (const { 0: slot, 1: kind, index } of template.matchAll(/\{([a-z]+(?: name)?)\}/g)) {
        text += template.slice(at, index)
        at = index + slot.length
        const value = kind === 'id' ? numbers[id](random) : kind === 'id name' ? name : data[kind](random)
        const named = kind === 'id' ? id : kindOf[kind]
        if (named !== undefined) spans.push({ from: text.length, to: text.length + value.length, kind: named })
        text += value
      }
      rows.push({ text: text + template.slice(at), spans })
    }
  }
  for (const template of templatesOf(nobody))
    for (let i = 0; i < 2 * rowsPerTemplate; i++) rows.push({ text: fillHarmless(template), spans: [] })
  return rows
}

/**
 * @param sameKind whether a finding must name the kind of what it covers
 * A finding that lies beside every span is wrong, and a span of which less than nine tenths are covered is missed: an
 * address with its town is found by its street.
 */
function measure(id, rows, sameKind) {
  const detector = detectorOf(id)
  const kinds = new Map()
  const of = (kind) => {
    if (!kinds.has(kind)) kinds.set(kind, { hit: 0, missed: 0, wrong: 0 })
    return kinds.get(kind)
  }
  const shown = { missed: show, wrong: show }
  const all = of('all')
  for (const { text, spans } of rows) {
    const found = detector.find(text).filter(({ confidence }) => confidence >= least)
    for (const { from, to, kind } of spans) {
      const size = kind === 'street_address' || kind.startsWith('JWK') ? 0.2 : 0.9
      const covered = found
        .filter((finding) => !sameKind || finding.kind === kind)
        .reduce((sum, { start, end }) => sum + Math.max(0, Math.min(end, to) - Math.max(start, from)), 0)
      const isHit = covered >= size * (to - from)
      all[isHit ? 'hit' : 'missed']++
      of(kind)[isHit ? 'hit' : 'missed']++
      if (!isHit && shown.missed-- > 0)
        console.log('  missed', kind, JSON.stringify(text.slice(0, 220)), JSON.stringify(found))
    }
    for (const { kind, start, end } of found) {
      const isRight = spans.some((span) => start < span.to && end > span.from && (!sameKind || span.kind === kind))
      if (isRight) continue
      all.wrong++
      if (sameKind) of(kind).wrong++
      if (shown.wrong-- > 0)
        console.log('  wrong', kind, JSON.stringify(text.slice(start, end)), JSON.stringify(text.slice(0, 200)))
    }
  }
  const percent = (part, whole) => (whole === 0 ? '    –' : `${((100 * part) / whole).toFixed(1)} %`.padStart(7))
  console.log(
    `\n${id}, ${options.side}: ${rows.length} rows, ${rows.filter(({ spans }) => spans.length === 0).length} of them harmless`
  )
  console.log(`${'kind'.padEnd(36)} values  precision  recall      F1`)
  for (const [kind, { hit, missed, wrong }] of [...kinds].sort(([a], [b]) =>
    a === 'all' ? -1 : b === 'all' ? 1 : a.localeCompare(b)
  )) {
    const f1 = percent(2 * hit, 2 * hit + missed + wrong)
    const precision = sameKind || kind === 'all' ? percent(hit, hit + wrong) : '       '
    console.log(
      `${kind.padEnd(36)} ${String(hit + missed).padStart(6)}    ${precision} ${percent(hit, hit + missed)} ${sameKind || kind === 'all' ? f1 : ''}`
    )
  }
}

measure('secrets', secretRows(), false)
measure('personal_data', personalRows(), true)
