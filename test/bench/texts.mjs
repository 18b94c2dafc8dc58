// Texts of other people for the load: harmless rows of corpora, one a line, escaped as JSON strings are.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bareText, openEvaluator } from './quality/ours.mjs'

const wanted = 3000
/** Of one row; longer ones are cut, so that no source stands for all. */
const longest = 1500

/**
 * @param data folder with train/benign_*.jsonl
 * @param which `natural`: as they come; `cleared`: those that the classifier and the rules put to no encoder
 * @returns a file of lines, and what deletes it
 */
export async function textsOf(data, which) {
  const folder = join(data, 'train')
  const files = readdirSync(folder).filter((file) => file.startsWith('benign_'))
  const each = Math.ceil((wanted * 2) / files.length)
  const rows = files.flatMap((file) => {
    const lines = readFileSync(join(folder, file), 'utf8').split('\n').filter(Boolean)
    const step = Math.max(1, Math.floor(lines.length / each))
    return lines
      .filter((_, i) => i % step === 0)
      .slice(0, each)
      .map((line) => JSON.parse(line).text.slice(0, longest).toWellFormed())
  })
  const kept = which === 'natural' ? rows : await cleared(rows)
  const own = mkdtempSync(join(tmpdir(), 'sluicegate-texts-'))
  const file = join(own, 'texts')
  writeFileSync(
    file,
    kept
      .slice(0, wanted)
      .map((text) => JSON.stringify(text).slice(1, -1))
      .join('\n')
  )
  return { file, rows: Math.min(kept.length, wanted), remove: () => rmSync(own, { recursive: true, force: true }) }
}

async function cleared(rows) {
  const ours = await openEvaluator('default', 'required')
  const kept = []
  for (const text of rows) if (!(await ours.isRaised(bareText(text)))) kept.push(text)
  await ours.close()
  return kept
}
