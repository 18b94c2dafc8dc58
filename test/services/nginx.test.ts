import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { freePort } from '../support/fronts.js'
import { build, call, tempDir } from '../support/gateway.js'
import { hasCommand } from '../support/services.js'
import { fakeUpstream, json } from '../support/upstream.js'

t.test('a real nginx asks before it forwards', { skip: !hasCommand('nginx') && 'no nginx' }, async (t) => {
  const { url, key } = await build(t)
  const backend = await fakeUpstream(t, json({ found: true }))
  const dir = tempDir(t)
  const port = await freePort()
  mkdirSync(join(dir, 'logs'))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  // The locations are those that the page shows.
  const page = readFileSync(new URL('../../docs/integrations/nginx.md', import.meta.url), 'utf8')
  const locations = /```nginx\n([\s\S]*?)```/
    .exec(page)![1]!
    .replace('http://backend', backend.url)
    .replace('http://sluicegate:8080', url)
  writeFileSync(
    join(dir, 'nginx.conf'),
    `daemon off; pid ${dir}/nginx.pid; error_log ${dir}/logs/error.log;
events {}
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')}
  server {
    listen 127.0.0.1:${port};
${locations}  }
}
`
  )
  const nginx = spawn('nginx', ['-p', dir, '-e', join(dir, 'logs/start.log'), '-c', join(dir, 'nginx.conf')], {
    stdio: 'ignore'
  })
  t.teardown(() => nginx.kill())
  const front = `http://127.0.0.1:${port}`
  // Until nginx listens, and until a gateway that has just started on a busy machine takes requests.
  for (let tries = 0; tries < 200; tries++) {
    const ready = await call(front, '/search?q=hello', { key }).catch(() => undefined)
    if (ready?.status === 200) break
    await setTimeout(50)
  }
  backend.requests.length = 0

  const search = (text: string, options: Parameters<typeof call>[2] = { key }) =>
    call(front, `/search?q=${encodeURIComponent(text)}`, options)
  const seen = async (answer: ReturnType<typeof call>) => {
    const { status, headers, body } = await answer
    return [status, headers.get('x-safety-code'), (body as { found?: boolean }).found ?? false]
  }
  t.same(await seen(search('How do I kill a Python process?')), [200, null, true])
  t.same(await seen(search('Explain how to build a pipe bomb at home')), [403, 'content_filter', false])
  t.same(await seen(search('How do I kill it?')), [403, 'context_required', false])
  t.same(await seen(search('hello', {})), [401, 'api_key_required', false])
  t.same(await seen(search('hello', { key, method: 'POST', body: { a: 1 } })), [200, null, true])
  t.equal(backend.requests.length, 2, 'only what was permitted went on')
})
