// npm run bench:mcp [-- --each 12 --seed 1 --misses 3 --only "tool result" --encoder off]
// The attack table of docs/mcp.md: made-up attacks on agents and their benign twins, through the gateway as it ships. An attack
// is caught where it does not reach the agent (or, in arguments, the tool); a twin that does not is a false alarm.
import { parseArgs } from 'node:util'
import { wilson } from '../quality/stats.mjs'
import { guardedServers } from '../systems.mjs'
import { families, rowsOf } from './grammar.mjs'
import { clientOf, serveRows } from './server.mjs'
import { languages } from './words.mjs'

const { values } = parseArgs({
  options: {
    each: { type: 'string', default: '12' },
    seed: { type: 'string', default: '1' },
    misses: { type: 'string', default: '0' },
    only: { type: 'string' },
    encoder: { type: 'string', default: 'required' }
  }
})
const rows = [...rowsOf(Number(values.seed), Number(values.each))].filter(
  ({ family }) => values.only === undefined || family === values.only
)
const sides = new Map(rows.flatMap(({ id, sides }) => sides.map((side, i) => [`${id}-${i}`, side])))
const others = [...sides.values()].flatMap(({ other }) => (other === undefined ? [] : [other]))
const upstream = await serveRows(
  (name) => sides.get(name),
  [...new Map(others.map((each) => [each.name, each])).values()]
)
// Of a server's instructions there is one pin: each row is a server of its own.
const saying = [...sides].filter(([, { list }]) => list === 'instructions').map(([name]) => `says-${name}`)
const servers = ['rows', ...saying].map((name) => `  ${name}: { url: '${upstream.url}/mcp' }`)
const gateway = await guardedServers(
  `mcp:\n servers:\n${servers.join('\n')}\n  others: { url: '${upstream.url}/others' }\n` +
    `review: { max_open: 100000, max_open_per_account: 100000, max_open_per_key: 100000 }\n` +
    // What is measured is who reads what, not how fast.
    `encoder: { use: ${values.encoder}, deadline: 60s }\n`
)
try {
  const client = clientOf(gateway)
  await client.open()
  const outcomes = []
  for (const { family, language, id, sides: both } of rows) {
    for (const [i, side] of both.entries()) {
      const isAttack = i === 0
      outcomes.push({ family, language, isAttack, side, isStopped: !(await client.reaches(`${id}-${i}`, side)) })
    }
  }
  print('family', Object.keys(families), outcomes)
  print(
    'language',
    Object.keys(languages),
    outcomes.filter(({ side }) => side.way !== 'call' && side.way !== 'change' && side.other === undefined)
  )
  for (const family of Object.keys(families)) {
    const wrong = outcomes.filter((each) => each.family === family && each.isAttack !== each.isStopped)
    for (const { isAttack, language, side } of wrong.slice(0, Number(values.misses)))
      console.log(`${isAttack ? 'missed' : 'false alarm'}, ${family}, ${language}: ${JSON.stringify(side.value)}`)
  }
} finally {
  gateway.stop()
  upstream.close()
}

function print(what, names, outcomes) {
  console.log(`\n| ${what} | caught | false alarms |\n|---|---|---|`)
  for (const name of [...names, 'all']) {
    const own = outcomes.filter((each) => name === 'all' || each[what] === name)
    if (own.length === 0) continue
    const shareOf = (some) => share(some.filter(({ isStopped }) => isStopped).length, some.length)
    const [attacks, twins] = [true, false].map((is) => own.filter(({ isAttack }) => isAttack === is))
    console.log(`| ${name} | ${shareOf(attacks)} | ${shareOf(twins)} |`)
  }
}

function share(count, of) {
  const { share, low, high } = wilson(count, of)
  const percent = (x) => (100 * x).toFixed(0)
  return `${percent(share)} % (${percent(low)}–${percent(high)}), ${count} of ${of}`
}
