import { readFileSync } from 'node:fs'
import t from 'tap'
import { openFiles } from '../../src/files/files.js'
import { hostile } from './hostile.js'
import { docx } from './make.js'

const settings = {
  processes: 1,
  queue: 8,
  deadlineMs: 60_000,
  memoryBytes: 1024 ** 3,
  fileBytes: 32 * 1024 ** 2,
  languages: ['eng']
}

t.test('what is made to be misread is not read, and does not end the process that reads', async (t) => {
  const files = await openFiles(settings, false, () => undefined)
  t.teardown(() => files.close())
  const read = async (bytes: Buffer, name: string, type = '', charset?: string) => {
    const isGone = () => false
    const reading = await files.read({
      account: 'a',
      whose: 'k',
      data: bytes.toString('base64'),
      type,
      charset,
      name,
      readsPictures: false,
      isGone
    })
    return reading.whole ? 'whole' : reading.reason
  }
  for (const { what, name, type, charset, make, outcome } of hostile) {
    t.equal(await read(Buffer.from((await make()) as Buffer), name, type, charset), outcome, what)
  }
  t.equal(await read(docx('harmless'), 'a.docx'), 'whole')
  t.ok(hostile.length >= 60)
})

t.test('the page shows the same table', async (t) => {
  const page = readFileSync('docs/files.md', 'utf8')
  for (const { what, outcome } of hostile) t.ok(page.includes(`| ${what} | \`${outcome}\` |`), what)
})
