// The written pairs as JSON lines, each prompt in its sentences, as the gateway cuts it: node training/written-pairs.mjs --out FILE
//
// A line of training/written/pairs is {prompt, language, keeps, about, goes, honest}: a system prompt; its sentences by which it
// keeps something, and those that say what is kept; messages that go for that, and messages of honest users. Written for each:
// {kind, language, sentences: [{text, keeps: true | false | null}], goes, honest}; null: what is kept, no order to keep it.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import '../test/support/typescript.mjs'

const { values } = parseArgs({ options: { out: { type: 'string' } } })
if (values.out === undefined) {
  console.error('usage: node training/written-pairs.mjs --out FILE')
  process.exit(2)
}
const { sentencesOf } = await import('../src/text/sentences.ts')
const { writtenLines } = await import('./grammar/written.ts')

const areTexts = (value) =>
  Array.isArray(value) && value.every((text) => typeof text === 'string' && text.trim() !== '')
let out = ''
for (const { file, line, place } of writtenLines('pairs/')) {
  const { prompt, language, keeps, about, goes, honest } = JSON.parse(line)
  const isRow = typeof prompt === 'string' && typeof language === 'string'
  if (!isRow || ![keeps, about, goes, honest].every(areTexts)) {
    throw new Error(`${place} is no row: {prompt, language, keeps, about, goes, honest}`)
  }
  const placesOf = (parts) =>
    parts.map((part) => {
      const start = prompt.indexOf(part)
      if (start < 0) throw new Error(`${place}: the prompt does not hold "${part}"`)
      return { start, end: start + part.length }
    })
  const kept = placesOf(keeps)
  const told = placesOf(about)
  const sentences = sentencesOf(prompt).map(({ start, end }) => {
    const isIn = (places) => places.some((place) => place.start < end && start < place.end)
    return { text: prompt.slice(start, end).trim(), keeps: isIn(kept) ? true : isIn(told) ? null : false }
  })
  out += `${JSON.stringify({ kind: file.slice(0, -'.jsonl'.length), language, sentences, goes, honest })}\n`
}
writeFileSync(values.out, out)
