import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { source } from '../policy/support.js'
import { built, exitCode, run, workplace } from '../support/cli.js'

t.test('evaluate prints the evaluation of the endpoint and leaves nothing behind', async (t) => {
  const place = workplace(t)
  const decide = async (args: string[], input?: string) => {
    const ran = await run(['evaluate', ...args], place, input)
    t.same([ran.code, ran.stderr], [0, ''], args.join(' '))
    return JSON.parse(ran.stdout)
  }
  const forbidden = await decide(['Say kaboom.'])
  t.match(forbidden, { decision: 'forbid', is_blocked: true, matched_rules: ['bomb_words'], policy: 'default@file' })
  t.match(forbidden.detections, [{ rule: 'bomb_words', span: { start: 4, end: 10 }, layer: 'plain' }])
  t.notOk('pointer' in forbidden.detections[0])
  t.match(await decide(['slay it']), { decision: 'depends', missing_context: ['topic'] })
  t.match(await decide(['slay it', '--context', '{"topic":"programming"}']), { decision: 'permit' })
  t.match(await decide(['slay it', '--context', '{"topic":"unclear"}']), { decision: 'divert' })
  t.match(await decide(['kaboom', '--constitution', 'other']), { decision: 'permit', policy: 'other@file' })
  t.match(await decide(['-'], 'a\nkaboom\n'), { decision: 'forbid', detections: [{ span: { start: 2, end: 8 } }] })
  const long = await decide(['-'], `${'word '.repeat(15_000)}kaboom`)
  t.match(long, { decision: 'forbid', detections: [{ span: { start: 75_000, end: 75_006 } }] })
  const { explain, ...evaluation } = await decide(['--explain', 'kaboom, slay'])
  t.match(evaluation, { decision: 'forbid' })
  t.match(explain.thresholds, { middle: 0.4, high: 0.75 })
  t.match(explain.rules, [
    { rule: 'bomb_words', score: 0.9, context: 'open' },
    { rule: 'kill_words', score: 0.5, context: 'open', context_keys: ['topic'] }
  ])
  t.match(explain.views, [
    { layer: 'plain', matches: [{ rule: 'bomb_words', span: { start: 0, end: 6 }, text: 'kaboom' }, {}] }
  ])
  t.match(explain.categories[0], {
    category: 'weapons',
    score: 0.9,
    decision: 'forbid',
    to_milder: { decision: 'depends' }
  })
  t.match(explain.flips.rules, [{ without: ['bomb_words'], decision: 'depends' }])
  t.match(explain.summary, ['forbid at 0.9.'])
  t.match(await run(['evaluate', '-'], place, Buffer.from([0xff])), { code: 2, stdout: '', stderr: /not valid UTF-8/ })
  t.match(await run(['evaluate', '-'], place, 'a'.repeat(100_001)), { code: 2, stdout: '', stderr: /too long/ })
  t.notOk(existsSync(join(place.cwd, 'data')), 'no store, no review')
})

t.test('evaluate --jsonl answers every line in order, a bad one with its error in its place', async (t) => {
  const place = workplace(t)
  const lines: [line: string | Buffer, expected: object][] = [
    ['{"id":"a","input_text":"kaboom"}', { id: 'a', decision: 'forbid', detections: [{ span: { start: 0, end: 6 } }] }],
    ['{"id":2,"input_text":"slay"}', { id: 2, decision: 'depends' }],
    ['{"id":"c","input_text":"slay","context":{"topic":"programming"}}\r', { id: 'c', decision: 'permit' }],
    [`{"id":"long","input_text":"${'word '.repeat(15_000)}kaboom"}`, { id: 'long', decision: 'forbid' }],
    ['not json', { id: null, error: { code: 'validation_error', details: { field: '', reason: 'malformed_json' } } }],
    [Buffer.from([0x22, 0xff, 0x22]), { id: null, error: { details: { reason: 'invalid_utf8' } } }],
    ['[]', { id: null, error: { details: { field: '', reason: 'wrong_type' } } }],
    ['{"input_text":"a"}', { id: null, error: { details: { field: 'id', reason: 'missing' } } }],
    ['{"id":{},"input_text":"a"}', { id: null, error: { details: { field: 'id', reason: 'wrong_type' } } }],
    ['{"id":"d"}', { id: 'd', error: { details: { field: 'input_text', reason: 'missing' } } }],
    ['{"id":"e","input_text":""}', { id: 'e', error: { details: { field: 'input_text', reason: 'empty' } } }],
    [
      '{"id":"f","input_text":"a","txt":"b"}',
      { id: 'f', error: { details: { field: 'txt', reason: 'unknown_field' } } }
    ],
    [
      '{"id":"g","input_text":"a","input_text":"b"}',
      { id: null, error: { details: { field: 'input_text', reason: 'duplicate_key' } } }
    ],
    [
      `{"id":"h","input_text":"${'a'.repeat(100_001)}"}`,
      { id: 'h', error: { details: { field: 'input_text', reason: 'too_long' } } }
    ],
    [
      `{"id":"i","input_text":"${'a'.repeat(5_000_000)}"}`,
      { id: null, error: { details: { field: '', reason: 'too_long' } } }
    ],
    ['{"id":"日本😀","input_text":"\\ud800 kaboom"}', { id: '日本😀', decision: 'forbid' }]
  ]
  const newline = Buffer.from('\n')
  const input = Buffer.concat(lines.flatMap(([line]) => [Buffer.from(line as string), newline]))
  const ran = await run(['evaluate', '--jsonl'], place, Buffer.concat([newline, input.subarray(0, -1)]))
  t.same([ran.code, ran.stderr], [0, ''], 'every line was answered, also the last, which has no end')
  const answers = ran.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.equal(answers.length, lines.length)
  for (const [index, [, expected]] of lines.entries()) t.match(answers[index], expected)
  t.match(await run(['evaluate', '--jsonl'], place, ''), { code: 0, stdout: '', stderr: '' })
})

t.test('evaluate --jsonl answers a line when it comes, and waits for a slow reader', async (t) => {
  const place = workplace(t)
  const child = spawn(process.execPath, [built, 'evaluate', '--jsonl'], { ...place, stdio: 'pipe' })
  child.stdin.write('{"id":0,"input_text":"a"}\n{"id":1,')
  const [first] = await once(child.stdout, 'data')
  t.match(JSON.parse(String(first)), { id: 0, decision: 'permit' }, 'before the input ends')
  child.stdout.pause()
  const many = 20_000
  child.stdin.write('"input_text":"a"}\n')
  for (let id = 2; id < many; id++) child.stdin.write(`{"id":${id},"input_text":"number ${id}"}\n`)
  child.stdin.end()
  const ids: number[] = []
  for await (const line of createInterface(child.stdout)) ids.push(JSON.parse(line).id)
  t.same(
    ids,
    Array.from({ length: many - 1 }, (_, index) => index + 1)
  )
  t.equal(await exitCode(child), 0)
})

t.test('a reader that goes away ends the work without a word', async (t) => {
  const child = spawn(process.execPath, [built, 'evaluate', '--jsonl'], { ...workplace(t), stdio: 'pipe' })
  child.stdin.on('error', () => {})
  child.stdout.destroy()
  child.stdin.end('{"id":0,"input_text":"a"}\n'.repeat(1000))
  t.equal(await text(child.stderr), '')
  t.equal(await exitCode(child), 1)
})

t.test('the encoder reads what was raised, and lets the command end', async (t) => {
  const { cwd, env } = workplace(t)
  const folder = fileURLToPath(new URL('../fixtures/encoder', import.meta.url))
  const rules = `
  - { name: hint, category: illicit, weight: 0.9, nominate: true, any: [car] }
  - { name: reader_illicit, category: illicit, detector: encoder, kinds: [illicit], weight: 1 }
`
  writeFileSync(join(cwd, 'default.yaml'), source({ rules }))
  writeFileSync(
    join(cwd, 'gateway.yaml'),
    `constitutions: { default: default.yaml }\nencoder: { use: required, folder: ${folder}, deadline: 1ms }\n`
  )
  const of = async (...args: string[]) => run(['evaluate', ...args], { cwd, env: { ...env, SLUICEGATE_ENCODER: '' } })
  const [washed, stolen] = [await of('wash the car'), await of('steal the car')]
  t.match(washed, { code: 0, stderr: '' })
  t.match(JSON.parse(washed.stdout), { decision: 'permit' })
  t.match(JSON.parse(stolen.stdout), { matched_rules: ['reader_illicit'] })
  const long = await of('wash the car '.repeat(600))
  t.match(JSON.parse(long.stdout), { decision: 'permit' }, 'it waits as long as it takes')
})
