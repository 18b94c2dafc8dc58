import { readFileSync } from 'node:fs'
import t from 'tap'
import { openFiles } from '../../src/files/files.js'
import { hostile } from './hostile.js'
import { hostilePictures } from './hostile-pictures.js'
import { docx } from './make.js'
import { drawn } from './pictures.js'

const settings = {
  processes: 1,
  queue: 8,
  deadlineMs: 60_000,
  memoryBytes: 1024 ** 3,
  fileBytes: 32 * 1024 ** 2,
  languages: ['eng']
}

for (const [where, rows, readsPictures] of [
  ['files', hostile, false],
  ['pictures', hostilePictures, true]
] as const) {
  t.test(`${where} that are made to be misread are not read, and do not end the process that reads`, async (t) => {
    const files = await openFiles(settings, readsPictures, () => undefined)
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
        readsPictures,
        isPicture: readsPictures && name === '',
        isGone
      })
      return reading.whole ? 'whole' : reading.reason
    }
    for (const { what, name, type, charset, make, outcome } of rows) {
      t.equal(await read(Buffer.from((await make()) as Buffer), name, type, charset), outcome, what)
    }
    t.equal(await read(docx('harmless'), 'a.docx'), 'whole')
    if (readsPictures) t.equal(await read(drawn('harmless'), 'a.png'), 'whole')
  })
}

t.test('the page shows the same tables', async (t) => {
  const page = readFileSync('docs/files.md', 'utf8')
  t.ok(hostile.length >= 60)
  for (const { what, outcome } of [...hostile, ...hostilePictures])
    t.ok(page.includes(`| ${what} | \`${outcome}\` |`), what)
})
