// node test/bench/pictures.mjs [--show] [--style NAME] [--json]
// Requests drawn into pictures, each with a harmless twin: how many of those that are stopped as text are stopped as a picture,
// and how many twins that pass as text are stopped as a picture. Chromium draws them, with DejaVu and Liberation as they are
// installed. Prints one row for each way of drawing, with the time of one processor for a picture. --show prints what was read.
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { pairs } from './picture-pairs.mjs'
import { bareText, openEvaluator } from './quality/ours.mjs'
import { wilson } from './quality/stats.mjs'

const { values: options } = parseArgs({
  options: {
    show: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    style: { type: 'string' }
  }
})
const dist = (name) => import(new URL(`../../dist/files/${name}`, import.meta.url).href)
const { findPackages } = await dist('packages.js')
const { Texts } = await dist('file.js')
const { Engine } = await dist('read/picture/engine.js')
const { Pictures } = await dist('read/picture/index.js')

const escaped = (text) => text.replace(/[&<>]/g, (each) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[each])
const plain = (css) => (text) => [
  `<body style="margin:40px;font:26px 'Liberation Sans';${css}">${escaped(text)}</body>`
]
const turned = (degrees) => (text) => [
  `<body style="margin:0"><div style="position:absolute;left:500px;top:300px;width:560px;translate:-50% -50%;rotate:${degrees}deg;font:26px 'Liberation Sans'">${escaped(text)}</div></body>`
]
const lines = 'Notes of the meeting. The garden party is on Sunday at noon, and everybody brings a salad. '
const halves = (text) => {
  const words = text.split(' ')
  const middle = Math.ceil(words.length / 2)
  return [words.slice(0, middle), words.slice(middle)].map((each) => plain('')(each.join(' '))[0])
}
/** Spots of many colours, the same in every run. */
const spots = (strength) => {
  let seed = 7
  const next = () => {
    seed = (seed * 48271) % 2147483647
    return seed / 2147483647
  }
  const all = Array.from({ length: 900 }, () => {
    const hue = Math.floor(next() * 360)
    return `<circle cx="${next() * 1000}" cy="${next() * 600}" r="${10 + next() * 40}" fill="hsl(${hue} 60% ${80 - strength * next()}%)"/>`
  })
  return `<svg width="1000" height="600" style="position:absolute;inset:0;z-index:-1">${all.join('')}</svg>`
}

/** Ways of drawing: the pages of each picture, and how it is stored. */
const styles = {
  typed: { pages: plain('') },
  'serif, small (13 px)': { pages: plain("font:13px 'Liberation Serif'") },
  'tiny (9 px)': { pages: plain("font:9px 'Liberation Sans'") },
  monospaced: { pages: plain("font:22px 'DejaVu Sans Mono'") },
  'white on black': { pages: plain('color:#fff;background:#000') },
  'light grey on white (#e8e8e8)': { pages: plain('color:#e8e8e8') },
  'almost white (#fbfbfb)': { pages: plain('color:#fbfbfb') },
  'red on green, equally light': { pages: plain('color:#d04040;background:#4a8a40') },
  'faint, beside plain text': {
    pages: (text) => [
      `<body style="margin:40px;font:26px 'Liberation Sans'"><p>${lines.repeat(3)}</p><p style="color:#f2f2f2">${escaped(text)}</p></body>`
    ]
  },
  'turned by 90°': { pages: turned(90) },
  'turned by 180°': { pages: turned(180) },
  'turned by 270°': { pages: turned(270) },
  'turned by 90°, beside plain text': {
    pages: (text) => [
      `<body style="margin:30px;font:24px 'Liberation Sans'"><p style="width:560px">${lines.repeat(3)}</p><div style="position:absolute;left:800px;top:300px;width:540px;translate:-50% -50%;rotate:90deg">${escaped(text)}</div></body>`
    ]
  },
  'slanted by 5°': { pages: turned(5) },
  'slanted by 20°': { pages: turned(20) },
  'slanted by 45°': { pages: turned(45) },
  'split over two pictures': { pages: halves },
  'on spots of colour': { pages: (text) => [`${spots(20)}${plain('font-weight:bold')(text)[0]}`] },
  'on many spots of colour': { pages: (text) => [`${spots(60)}${plain('font-weight:bold')(text)[0]}`] },
  'JPEG of low quality (20)': { pages: plain(''), jpeg: 20 },
  'faint in a JPEG (#d8d8d8, 60)': { pages: plain('color:#d8d8d8'), jpeg: 60 },
  'letters spaced apart': { pages: plain('letter-spacing:0.35em') },
  capitals: { pages: plain('text-transform:uppercase') },
  'handwriting (Z003)': { pages: plain('font:34px Z003') },
  transparent: { pages: plain('color:#000;background:transparent'), isTransparent: true }
}

const pictures = new Pictures(await Engine.open(findPackages(['eng']).languages))
const ours = await openEvaluator()
const browser = await chromium.launch({
  executablePath: process.env.TEST_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox']
})
const tab = await browser.newPage({ viewport: { width: 1000, height: 600 } })

async function draw(page, { jpeg, isTransparent = false }) {
  await tab.setContent(page)
  if (jpeg !== undefined) return tab.screenshot({ type: 'jpeg', quality: jpeg })
  return tab.screenshot({ type: 'png', omitBackground: isTransparent })
}

/** As the gateway judges them: each text, and all of one message as one. */
async function stopped(texts) {
  const parts = texts.map(({ text, where }) => ({ role: 'user', text, pointer: `/input#${where}` }))
  const joined = parts.length > 1 ? [parts.map((_, i) => i)] : []
  const { decision } = await ours.evaluate({ ...bareText(''), parts, joined })
  return decision !== 'permit'
}

const asText = async (text) => (await ours.evaluate(bareText(text))).decision !== 'permit'
const attacks = []
const twins = []
for (const [attack, twin] of pairs) {
  if (await asText(attack)) attacks.push(attack)
  else process.stderr.write(`not stopped as text: ${attack}\n`)
  if (!(await asText(twin))) twins.push(twin)
  else process.stderr.write(`stopped as text: ${twin}\n`)
}

async function count(list, style) {
  let found = 0
  let seconds = 0
  let drawn = 0
  for (const text of list) {
    const out = new Texts()
    for (const page of style.pages(text)) {
      const bytes = await draw(page, style)
      const began = process.cpuUsage()
      pictures.read(bytes, out, '')
      const { user, system } = process.cpuUsage(began)
      seconds += (user + system) / 1e6
      drawn++
    }
    const isStopped = await stopped(out.all)
    if (isStopped) found++
    if (options.show)
      process.stdout.write(
        `  ${isStopped ? 'stopped' : 'passed '} ${JSON.stringify(out.all.map((each) => each.text))}\n`
      )
  }
  return { found, of: list.length, seconds: seconds / Math.max(1, drawn) }
}

const percent = ({ found, of }) => {
  const { low, high } = wilson(found, of)
  return `${found} of ${of} (${Math.round(100 * low)}–${Math.round(100 * high)} %)`
}
const results = []
if (!options.json)
  process.stdout.write('| drawn | attacks stopped | twins stopped | time of one processor |\n|---|---:|---:|---:|\n')
for (const [name, style] of Object.entries(styles)) {
  if (options.style !== undefined && options.style !== name) continue
  const caught = await count(attacks, style)
  const alarms = await count(twins, style)
  results.push({ name, caught, alarms })
  if (!options.json)
    process.stdout.write(`| ${name} | ${percent(caught)} | ${percent(alarms)} | ${caught.seconds.toFixed(2)} s |\n`)
}
if (options.json) process.stdout.write(`${JSON.stringify(results, undefined, 2)}\n`)
await browser.close()
await ours.close()
