import { spawn } from 'node:child_process'
import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { built, run, workplace } from '../support/cli.js'

const dataKey = Buffer.alloc(32, 7).toString('base64')

t.test('help and version exit 0, wrong arguments 2, and no error shows a stack', async (t) => {
  const place = workplace(t)
  const table: [args: string[], code: number, says: RegExp][] = [
    [['--help'], 0, /serve.*check.*evaluate.*keys/s],
    [['evaluate', '--help'], 0, /default@file.*A server\s+may have another version in force, from its store/s],
    [['--version'], 0, /^\d+\.\d+\.\d+\n$/],
    [[], 2, /Usage: sluicegate/],
    [['keys'], 2, /Usage: sluicegate keys/],
    [['evalute'], 2, /unknown command 'evalute'.*evaluate/s],
    [['serve', '--prot'], 2, /unknown option '--prot'/],
    [['evaluate'], 2, /a text is needed/],
    [['evaluate', '--jsonl', 'a'], 2, /no text and no --context/],
    [
      ['evaluate', '--constitution', 'nope', 'a'],
      2,
      /no constitution "nope" \(default, developer, mcp, strict, other\)/
    ],
    [['evaluate', ''], 2, /"input_text" must not be empty/],
    [['evaluate', '--context', '{', 'a'], 2, /context is not valid JSON/],
    [['evaluate', '--context', '{"a":1,"a":2}', 'a'], 2, /context holds the same key twice/],
    [['keys', 'create'], 2, /--name/],
    [['keys', 'create', '--name', 'a', '--env', 'prod'], 2, /live, test/],
    [['keys', 'create', '--name', 'a', '--ip', '10.0.0.0/99'], 2, /: --ip: /],
    [['keys', 'create', '--name', 'a', '--limit', '0'], 2, /: --limit must be a whole number from 1 to 1000000\./],
    [['keys', 'create', '--name', 'a', '--concurrent', '0'], 2, /: --concurrent must be a whole number/],
    [['keys', 'create', '--name', 'a', '--scopes', 'all'], 2, /: --scopes must be among /],
    [['keys', 'create', '--name', ' '], 2, /: --name must not be empty/],
    [['keys', 'create', '--name', 'a', '--expires', 'soon'], 2, /--expires takes a time such as .* such as 30d$/m],
    [['keys', 'create', '--name', 'a', '--expires', '2020-01-31T12:00:00Z'], 2, /: --expires must lie in the future/],
    [['keys', 'create', '--name', 'a', '--limit', 'many'], 2, /--limit/],
    [['keys', 'list', '--account', '../x'], 2, /--account/]
  ]
  await Promise.all(
    table.map(async ([args, code, says]) => {
      const ran = await run(args, place)
      t.equal(ran.code, code, args.join(' '))
      t.match(ran.stdout + ran.stderr, says, args.join(' '))
      t.notMatch(ran.stderr, /^\s+at /m, 'no stack')
      if (code !== 0) t.equal(ran.stdout, '', 'errors go to standard error alone')
    })
  )
  const bad = await run(['evaluate', 'a'], { ...place, env: { ...place.env, SLUICEGATE_PORT: 'x' } })
  t.match(bad, {
    code: 1,
    stderr:
      'The configuration is not valid.\nenvironment SLUICEGATE_PORT: is not valid (a whole number from 0 to 65535)\n'
  })
})

t.test('a store that does not exist is named, and not created; only the first key creates one', async (t) => {
  const place = workplace(t)
  const env = { ...place.env, SLUICEGATE_DATA_DIR: join(place.cwd, 'none'), SLUICEGATE_DATA_KEY: dataKey }
  const commands = [
    ['audit', 'verify'],
    ['audit', 'export'],
    ['keys', 'list'],
    ['keys', 'revoke', 'key_nope'],
    ['keys', 'rotate', 'key_nope'],
    ['users', 'invite'],
    ['users', 'list'],
    ['data-key', 'list'],
    ['constitutions', 'list'],
    ['constitutions', 'put', 'other', 'other.yaml'],
    ['backup', 'copy.db']
  ]
  for (const args of commands) {
    const ran = await run(args, { ...place, env })
    t.match(ran, { code: 1, stdout: '', stderr: /there is no file \S+none\/sluicegate\.db$/m }, args.join(' '))
  }
  t.notOk(existsSync(env.SLUICEGATE_DATA_DIR), 'nothing is created')
  t.match(await run(['keys', 'create', '--name', 'first'], { ...place, env }), { code: 0 })
  t.match(await run(['keys', 'revoke', 'key_nope'], { ...place, env }), { code: 1, stdout: '', stderr: /no such key/ })
  t.match(await run(['audit', 'verify'], { ...place, env }), { code: 0, stdout: /The audit is whole/ })
})

t.test('it runs through the link that npm makes, from any working directory', async (t) => {
  const place = workplace(t)
  const link = join(place.cwd, 'sluicegate')
  symlinkSync(built, link)
  const child = spawn(link, ['--version'], { ...place, cwd: '/', stdio: 'pipe' })
  t.match(await text(child.stdout), /^\d/)
})

t.test('help ends in silence where nobody reads it', async (t) => {
  const { env } = workplace(t)
  for (const args of [['--help'], ['serve', '--help'], ['keys', '--help']]) {
    const child = spawn(process.execPath, [built, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.destroy()
    let said = ''
    for await (const chunk of child.stderr) said += chunk
    t.equal(said, '', args.join(' '))
  }
})
