/** `auth: aws`: the bytes that leave are signed, with credentials from each place that is read and from no other. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bedrockAnswers } from '../support/bedrock-upstream.js'
import { build } from '../support/gateway.js'
import { signatureFault } from '../support/sigv4.js'
import { type Answer, fakeUpstream, json } from '../support/upstream.js'

const id = 'AKIDEXAMPLE'
const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const token = 'IQoJb3JpZ2luX2VjEXAMPLE/session+token=='
const said = { permit: 'Use pkill with the name of the process.' }
const folder = mkdtempSync(join(tmpdir(), 'aws-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const nothing = join(folder, 'nothing')

/** The environment of AWS's packages, which is the process' own, for one test. */
function environment(t: Test, given: Record<string, string>): void {
  const before = { ...process.env }
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name]
  Object.assign(process.env, { AWS_SHARED_CREDENTIALS_FILE: nothing, AWS_CONFIG_FILE: nothing, ...given })
  t.teardown(() => {
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name]
    Object.assign(process.env, before)
  })
}

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** As AWS does: what is not signed with the right key is refused. */
const verifying =
  (answer: Answer, expected = { id, secret }): Answer =>
  (res, request) => {
    const fault = signatureFault(request, { ...expected, region: 'eu-west-1', service: 'bedrock' })
    if (fault === undefined) answer(res, request)
    else json({ message: fault }, 403)(res, request)
  }

async function gateway(t: Test, answer: Answer, more = '') {
  const upstream = await fakeUpstream(t, answer)
  const { url, key, logs } = await build(t, {
    yaml: `upstreams: { default: { url: "${upstream.url}", auth: aws, aws: { region: eu-west-1${more} } } }`
  })
  const ask = async (path: string, text = 'How do I stop a process?') => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json', 'x-safety-context': '{"topic":"programming"}' },
      body: JSON.stringify({ messages: [{ role: 'user', content: [{ text }] }] })
    })
    return { status: response.status, text: Buffer.from(await response.arrayBuffer()).toString('latin1') }
  }
  return { ask, upstream, logs }
}

const path = '/model/anthropic.claude-v2%3A0/converse'
const arn = '/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Ainference-profile%2Feu.claude-v2%3A0/converse'
const inEnvironment = { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret }

t.test('whole and streamed requests are signed as they leave', async (t) => {
  environment(t, { ...inEnvironment, AWS_SESSION_TOKEN: token })
  const { ask, upstream, logs } = await gateway(t, verifying(bedrockAnswers(said)))
  for (const each of [path, arn, `${path}-stream`, `${arn}-stream`]) {
    const { status, text } = await ask(each, 'Wie beende ich einen Prozess? é 😀')
    t.equal(status, 200, each)
    t.match(text, /"stopReason":"end_turn"/)
  }
  t.equal(upstream.requests[0]!.headers['x-amz-security-token'], token)
  t.notOk(upstream.requests[0]!.headers['x-api-key'], 'our key stays here')
  for (const each of [secret, token, id]) t.notMatch(logs.join(''), each)
})

t.test('a signature over other bytes does not pass the fake', async (t) => {
  environment(t, inEnvironment)
  const changed: Answer = (res, request) =>
    verifying(bedrockAnswers(said))(res, { ...request, body: Buffer.concat([request.body, Buffer.from(' ')]) })
  const { ask } = await gateway(t, changed)
  t.match(await ask(path), { status: 403, text: 'another body' })
})

t.test('the session token is not shown to a client', async (t) => {
  environment(t, { ...inEnvironment, AWS_SESSION_TOKEN: token })
  const { ask } = await gateway(t, json({ message: `the canonical string had x-amz-security-token:${token}` }, 403))
  const { status, text } = await ask(path)
  t.equal(status, 502)
  t.notMatch(text, 'session+token')
})

t.test('the shared file, and a named profile of it', async (t) => {
  const shared = `[default]\naws_access_key_id = ${id}\naws_secret_access_key = ${secret}\n\n[other]\naws_access_key_id = B\naws_secret_access_key = other\n`
  environment(t, { AWS_SHARED_CREDENTIALS_FILE: file('credentials', shared) })
  t.equal((await (await gateway(t, verifying(bedrockAnswers(said)))).ask(path)).status, 200)
  const other = verifying(bedrockAnswers(said), { id: 'B', secret: 'other' })
  t.equal((await (await gateway(t, other, ', profile: other')).ask(path)).status, 200)
  t.equal((await (await gateway(t, other, ', profile: none')).ask(path)).status, 502)
})

t.test('no command is run for credentials', async (t) => {
  const mark = join(folder, 'was-run')
  const config = file(
    'config',
    `[default]\ncredential_process = /usr/bin/touch ${mark}\n[profile p]\ncredential_process = /usr/bin/touch ${mark}\n`
  )
  environment(t, { AWS_CONFIG_FILE: config })
  for (const more of ['', ', profile: p']) {
    const { ask, upstream } = await gateway(t, bedrockAnswers(said), more)
    t.equal((await ask(path)).status, 502)
    t.equal(upstream.requests.length, 0, 'nothing leaves unsigned')
  }
  t.notOk(existsSync(mark))
})

t.test('a container', async (t) => {
  const Expiration = new Date(Date.now() + 3_600_000).toISOString()
  const container = await fakeUpstream(t, json({ AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration }))
  environment(t, { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${container.url}/credentials` })
  const { ask } = await gateway(t, verifying(bedrockAnswers(said)))
  t.same(
    (await Promise.all([ask(path), ask(path), ask(arn)])).map(({ status }) => status),
    [200, 200, 200]
  )
  t.equal((await ask(path)).status, 200)
  t.equal(container.requests.length, 1, 'asked once while they hold')
})

t.test('a web identity', async (t) => {
  const Expiration = new Date(Date.now() + 3_600_000).toISOString()
  const credentials = `<Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>${secret}</SecretAccessKey><SessionToken>${token}</SessionToken><Expiration>${Expiration}</Expiration></Credentials>`
  const sts = await fakeUpstream(t, (res) => {
    res.writeHead(200, { 'content-type': 'text/xml' })
    res.end(
      `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>${credentials}</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`
    )
  })
  environment(t, {
    AWS_WEB_IDENTITY_TOKEN_FILE: file('token', 'a-web-identity'),
    AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/gateway',
    AWS_ENDPOINT_URL_STS: sts.url
  })
  const { ask } = await gateway(t, verifying(bedrockAnswers(said)))
  t.equal((await ask(path)).status, 200)
  t.match(sts.requests[0]!.body.toString(), 'WebIdentityToken=a-web-identity')
})

t.test("the instance's metadata is asked only where it is configured", async (t) => {
  const Expiration = new Date(Date.now() + 3_600_000).toISOString()
  const metadata = await fakeUpstream(t, (res, request) => {
    if (request.url.endsWith('/api/token')) res.end('metadata-token')
    else if (request.url.endsWith('/security-credentials/')) res.end('role')
    else json({ AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration })(res, request)
  })
  environment(t, { AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata.url })
  t.equal((await (await gateway(t, verifying(bedrockAnswers(said)))).ask(path)).status, 502)
  t.equal(metadata.requests.length, 0)
  const { ask } = await gateway(t, verifying(bedrockAnswers(said)), ', instance_metadata: true')
  t.equal((await ask(path)).status, 200)
})
