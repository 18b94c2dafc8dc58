// Texts of other people for the load: harmless rows of corpora, one a line, escaped as JSON strings are.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bareText, openEvaluator } from './quality/ours.mjs'

const wanted = 3000
/** Of one row; longer ones are cut, so that no source stands for all. */
const longest = 1500
/** Bytes of all bodies of a size together: long ones are fewer. */
const enough = 8 * 1024 * 1024
/** What a body holds beside its text: see `load.lua`. */
const frame = 140

/**
 * @param data folder with train/benign_*.jsonl
 * @param which `natural`: as they come, laid end to end; `cleared`: whole bodies that the classifier and the rules put to no encoder
 * @returns files of lines, by size in bytes, and what deletes them. `isWhole`: a line is a body's text
 */
export async function textsOf(data, which) {
  const rows = rowsOf(join(data, 'train'))
  const own = mkdtempSync(join(tmpdir(), 'sluicegate-texts-'))
  const write = (name, texts) => {
    const file = join(own, name)
    writeFileSync(file, texts.map((text) => JSON.stringify(text).slice(1, -1)).join('\n'))
    return file
  }
  const all = write('natural', rows.slice(0, wanted))
  const files = new Map()
  let clearedRows
  const ours = which === 'natural' ? undefined : await openEvaluator('default', 'required')
  return {
    rows: Math.min(rows.length, wanted),
    /** @param kind of load: what tools bring is raised nearly always, and comes as it is */
    async of({ size, kind }) {
      if (ours === undefined || kind === 'agent') return { file: all, isWhole: false }
      if (!files.has(size)) {
        // Of rows that are raised alone no long body would be cleared.
        clearedRows ??= await cleared(ours, rows)
        const bodies = await cleared(ours, bodiesOf(clearedRows, size - frame))
        if (bodies.length === 0) throw new Error(`of ${data} no body of ${size} bytes is cleared whole`)
        files.set(size, write(String(size), bodies))
      }
      return { file: files.get(size), isWhole: true }
    },
    async remove() {
      await ours?.close()
      rmSync(own, { recursive: true, force: true })
    }
  }
}

function rowsOf(folder) {
  const files = readdirSync(folder).filter((file) => file.startsWith('benign_'))
  const each = Math.ceil((wanted * 2) / files.length)
  const bySource = files.map((file) => {
    const lines = readFileSync(join(folder, file), 'utf8').split('\n').filter(Boolean)
    const step = Math.max(1, Math.floor(lines.length / each))
    return lines
      .filter((_, i) => i % step === 0)
      .slice(0, each)
      .map((line) => JSON.parse(line).text.slice(0, longest).toWellFormed())
  })
  // One row of each source in turn, so that a body holds several.
  return Array.from({ length: each }, (_, i) => bySource.flatMap((rows) => rows[i] ?? [])).flat()
}

/** Texts of a size in bytes, rows laid end to end and cut between words. */
function bodiesOf(rows, size) {
  const bodies = []
  const most = Math.min(wanted, Math.ceil(enough / size))
  for (let at = 0; bodies.length < most && at < rows.length * 4; ) {
    let text = ''
    while (Buffer.byteLength(text) < size && at < rows.length * 4)
      text += `${text && '\n\n'}${rows[at++ % rows.length]}`
    const cut = Buffer.from(text)
      .subarray(0, size)
      .toString()
      .replace(/\uFFFD+$/, '')
    bodies.push(/^([\s\S]*)\s\S*$/.exec(cut)?.[1] ?? cut)
  }
  return bodies
}

async function cleared(ours, texts) {
  const kept = []
  for (const text of texts) if (!(await ours.isRaised(bareText(`Note 1-1. ${text}`)))) kept.push(text)
  return kept
}
