import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { run } from '../support/cli.js'
import { forbidding, openHouse } from '../support/constitutions.js'
import { tempDir } from '../support/gateway.js'

async function house(t: Test) {
  const dir = tempDir(t)
  writeFileSync(join(dir, 'default.yaml'), forbidding('alpha'))
  const gateway = await openHouse(t, dir)
  const place = {
    cwd: dir,
    env: { PATH: process.env['PATH'], SLUICEGATE_CONFIG: 'gateway.yaml', SLUICEGATE_DATA_DIR: dir }
  }
  const command = (args: string[], input?: string) => run(['constitutions', ...args], place, input)
  return { dir, gateway, command }
}

t.test('the command stores, tries, puts in force and takes back, beside a running server', async (t) => {
  const { dir, gateway, command } = await house(t)
  t.match(await command(['list']), { code: 0, stdout: /^default@1 {2}1 versions, latest 1, since \S+ by file\n$/ })
  t.match(await command(['show', 'default']), { code: 0, stdout: `${forbidding('alpha')}\n` })
  writeFileSync(join(dir, 'next.yaml'), forbidding('beta'))
  t.match(await command(['put', 'default', 'next.yaml', '--note', 'why']), { code: 0, stdout: /^Stored as default@2/ })
  t.match(await command(['put', 'default', '-'], forbidding('beta')), {
    code: 0,
    stdout: /^The same text as default@2/
  })
  const tried = await command(['test', 'default', '2'], 'alpha\nhello\n\nbeta\n')
  t.match(tried, {
    code: 0,
    stderr: '',
    stdout:
      'line 1: forbid → permit\nline 3: permit → forbid\n2 of 3 change from default@1 to default@2: 1 stricter, 1 milder\n'
  })
  writeFileSync(join(dir, 'last.yaml'), forbidding('hello'))
  t.match(JSON.parse((await command(['test', 'default', 'last.yaml', '--json'], 'hello\n')).stdout), {
    candidate: { label: 'default@draft' },
    diff: { stricter: 1 }
  })
  t.match(await command(['activate', 'default', '2']), {
    code: 0,
    stdout: /default@2 is in force, .*\nTo roll back: sluicegate constitutions activate default 1/
  })
  let label: string | undefined
  for (let tries = 0; tries < 100 && label !== 'default@2'; tries++) {
    label = (await gateway.judge('x'))[1]
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  t.equal(label, 'default@2', 'the server follows')
  t.match(JSON.parse((await command(['show', 'default', '2', '--json'])).stdout), {
    note: 'why',
    origin: 'command',
    created_by: null,
    active: true
  })
  t.match((await gateway.get('/default/activations')).body.activations[0], {
    from: 1,
    to: 2,
    origin: 'command',
    by: null
  })
})

t.test('what is wrong is said with its place and an exit code', async (t) => {
  const { dir, command } = await house(t)
  writeFileSync(join(dir, 'bad.yaml'), forbidding('beta').replace('0.9', '9'))
  const line = forbidding('beta').split('\n').length
  t.match(await command(['put', 'default', 'bad.yaml']), {
    code: 1,
    stdout: '',
    stderr: new RegExp(`bad\\.yaml:${line}:\\d+ rules\\[0\\]\\.weight: must be <= 1`)
  })
  t.match(await command(['put', 'default', 'absent.yaml']), {
    code: 2,
    stderr: /absent\.yaml cannot be read \(ENOENT\)/
  })
  t.match(await command(['activate', 'default', '7']), { code: 1, stderr: /no version 7 of default/ })
  t.match(await command(['activate', 'default', 'x']), { code: 2, stderr: /whole number/ })
  t.match(await command(['show', 'nope']), { code: 1, stderr: /no such constitution/ })
  t.match(await command(['test', 'default', '1'], ''), { code: 2, stderr: /one a line/ })
})
