// What judging a text costs by stage, in processor time: `node test/bench/judging.mjs FOLDER_OF_DATA [OTHER_DIST]`. With a
// second build, both judge the same texts in turns, and the ratio is printed: noise of other programs falls on both.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [data = '../shared/data', other] = process.argv.slice(2)
const own = resolve(import.meta.dirname, '../../dist')
const lengths = (process.env.LEN ?? '200,2000,20000,64000').split(',').map(Number)
const rounds = Number(process.env.ROUNDS ?? 7)
/** ms of processor time that one figure is measured over. */
const each = Number(process.env.EACH ?? 150)

/** Texts of a length, put together of harmless rows of one source each: short rows follow each other as paragraphs. */
function textsOf(length, count) {
  const folder = join(data, 'train')
  const files = readdirSync(folder).filter((file) => file.startsWith('benign_'))
  const texts = []
  for (let round = 0; texts.length < count && round < 50; round++) {
    for (const file of files) {
      known[file] ??= readFileSync(join(folder, file), 'utf8').split('\n').filter(Boolean)
      const rows = known[file]
      let text = ''
      for (let i = Math.floor((round * rows.length) / 50); text.length < length && i < rows.length; i++) {
        text += `${text === '' ? '' : '\n\n'}${JSON.parse(rows[i]).text}`
      }
      if (text.length >= length) texts.push(text.slice(0, length).toWellFormed())
      if (texts.length === count) break
    }
  }
  return texts
}
const known = {}

/** One build's stages: each takes a text. */
async function stagesOf(dist) {
  const load = (file) => import(pathToFileURL(join(dist, file)).href)
  const { loadPolicy, warmUp } = await load('policy/evaluate/entry.js')
  const { RuleEngine } = await load('policy/evaluate/rule-engine.js')
  const { readingsOf } = await load('text/views.js')
  const { signsOf } = await load('text/signs.js')
  const { Folder } = await load('text/fold.js')
  const { HitList } = await load('text/hit-list.js')
  const { Matcher } = await load('policy/match/match.js')
  const { Findings } = await load('policy/match/findings.js')
  const { partSink } = await load('policy/match/sinks.js')
  const file = join(dist, '../config/constitutions/default.yaml')
  const policy = await loadPolicy(readFileSync(file, 'utf8'), file)
  const judge = new RuleEngine(policy)
  warmUp(judge, 2_000)
  const folder = new Folder()
  const hits = new HitList()
  const matcher = new Matcher(policy)
  const part = (text) => ({ role: 'user', text, pointer: '' })
  const stages = {
    signs: (text) => signsOf(text),
    readings: (text) => readingsOf(text, policy.words),
    folding: (text) => folder.fold(text),
    'folding, phrases': (text) => {
      hits.count = 0
      policy.phrases.scan(folder.fold(text), hits)
    },
    'matching of all readings': (text) => {
      const { views } = readingsOf(text, policy.words)
      const call = { parts: [part(text)], direction: 'request', findings: new Findings(1) }
      matcher.match(views, partSink(call, 0))
    }
  }
  for (const { detector, floors } of policy.detectors) {
    stages[`detector ${detector.id}`] = (text) => detector.find(text, undefined, text.length, floors)
  }
  stages['a verdict'] = (text) =>
    judge.judge({ parts: [part(text)], joined: [], context: undefined, direction: 'request' })
  return stages
}

/** @returns µs of processor time a text */
function cost(stage, texts) {
  const started = process.cpuUsage()
  let calls = 0
  for (let used = 0; used < each * 1000; ) {
    for (const text of texts) stage(text)
    calls += texts.length
    const { user, system } = process.cpuUsage(started)
    used = user + system
  }
  const { user, system } = process.cpuUsage(started)
  return (user + system) / calls
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]

const builds = [await stagesOf(own), ...(other === undefined ? [] : [await stagesOf(resolve(other))])]
for (const length of lengths) {
  const texts = textsOf(length, length > 10_000 ? 24 : 400)
  console.log(`\n${length} characters (${texts.length} texts), µs of processor time a text`)
  for (const name of Object.keys(builds[0])) {
    if (process.env.STAGE !== undefined && !name.includes(process.env.STAGE)) continue
    const costs = builds.map(() => [])
    for (let round = 0; round < rounds; round++) {
      for (const [i, stages] of builds.entries()) costs[i].push(cost(stages[name], texts))
    }
    const [mine, theirs] = costs.map(median)
    const ratio = theirs === undefined ? '' : `   other ${theirs.toFixed(1)}   ratio ${(mine / theirs).toFixed(2)}`
    console.log(
      `${name.padEnd(28)} ${mine.toFixed(1).padStart(9)}   ${((mine / length) * 1000).toFixed(1)} ns a character${ratio}`
    )
  }
}
