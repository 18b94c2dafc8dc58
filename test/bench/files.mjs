// node test/bench/files.mjs [--rounds 7]
// How long a file is on its way through the process that reads files, as the gateway starts it: a PDF of ten pages, and pictures
// of one megapixel with few and with many letters. Chromium makes them, each with words of its own, so that none is remembered.
// Prints the median and the longest time on the clock; `taskset -c 0` in front holds all of it to one processor.
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { openFiles } from '../../dist/files/files.js'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '7' } } })
const rounds = Number(values.rounds)
const mib = 1024 * 1024

const words =
  'garden party sunday noon salad bring table music winter river letter paper window morning train station'.split(' ')
let seed = 7
const word = () => {
  seed = (seed * 48271) % 2147483647
  return words[seed % words.length]
}
/** So many characters of words. */
function prose(length) {
  let text = ''
  while (text.length < length) text += `${word()} `
  return text.slice(0, length)
}
const page = (text, css) => `<body style="margin:24px;font:${css} 'Liberation Sans';width:952px">${text}</body>`

const browser = await chromium.launch({
  executablePath: process.env.TEST_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox']
})
const tab = await browser.newPage({ viewport: { width: 1000, height: 1000 } })
const picture = (length, css) => async () => {
  await tab.setContent(page(prose(length), css))
  return tab.screenshot({ type: 'png' })
}
const pdf = async () => {
  const pages = Array.from({ length: 10 }, () => `<p style="break-after:page">${prose(2500)}</p>`).join('')
  await tab.setContent(`<body style="font:12px 'Liberation Sans'">${pages}</body>`)
  return tab.pdf({ format: 'A4' })
}
const rows = [
  ['PDF of 10 pages, 2,500 characters each', 'application/pdf', pdf],
  ['picture of 1 megapixel, 500 characters', 'image/png', picture(500, '28px')],
  ['picture of 1 megapixel, 4,000 characters', 'image/png', picture(4000, '15px')],
  ['picture of 1 megapixel, 6,000 characters', 'image/png', picture(6000, '12px')]
]

const settings = {
  processes: 1,
  queue: 32,
  deadlineMs: 60_000,
  memoryBytes: 512 * mib,
  fileBytes: 32 * mib,
  languages: ['eng']
}
const files = await openFiles(settings, true, () => {})
for (const [name, type, make] of rows) {
  const times = []
  let units = 0
  // The first one warms up.
  for (let i = 0; i <= rounds; i++) {
    const data = (await make()).toString('base64')
    const began = performance.now()
    const reading = await files.read({
      account: 'bench',
      whose: 'bench',
      data,
      type,
      charset: undefined,
      name: '',
      readsPictures: true,
      isPicture: type !== 'application/pdf',
      isGone: () => false
    })
    if (!reading.whole) throw new Error(`${name}: ${reading.reason}`)
    units = reading.texts.reduce((sum, { text }) => sum + text.length, 0)
    if (i > 0) times.push(performance.now() - began)
  }
  times.sort((a, b) => a - b)
  const ms = (time) => `${Math.round(time)} ms`.padStart(9)
  console.log(
    `${name.padEnd(44)} median ${ms(times[times.length >> 1])}  longest ${ms(times.at(-1))}  (${units} characters read)`
  )
}
files.close()
await browser.close()
