/** What application code sees of each outcome through AWS's own SDK, in front of a real gateway. */
import {
  BedrockRuntimeClient,
  BedrockRuntimeServiceException,
  ConverseCommand,
  ConverseStreamCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand
} from '@aws-sdk/client-bedrock-runtime'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import t from 'tap'
import { bedrockAnswers } from '../support/bedrock-upstream.js'
import { build } from '../support/gateway.js'
import { type Ask, answers, type Client, everyOutcome, gatewayFor, prompts, type Seen } from '../support/outcomes.js'
import { signatureFault } from '../support/sigv4.js'
import { fakeUpstream, json } from '../support/upstream.js'

const modelId = 'anthropic.claude-3-haiku-20240307-v1:0'
const arn = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-v2:0'

const clientFor = ({ url, key }: Client, maxAttempts = 2) =>
  new BedrockRuntimeClient({
    endpoint: url,
    region: 'us-east-1',
    token: { token: key },
    authSchemePreference: ['httpBearerAuth'],
    requestHandler: new NodeHttpHandler(),
    maxAttempts
  })

async function converse(to: Client, prompt: string, stream: boolean, model = modelId): Promise<Seen> {
  const client = clientFor(to)
  const input = { modelId: model, messages: [{ role: 'user' as const, content: [{ text: prompt }] }] }
  try {
    if (!stream) {
      const { output, stopReason } = await client.send(new ConverseCommand(input))
      return {
        text: output?.message?.content?.map(({ text }) => text ?? '').join('') ?? '',
        finish: stopReason ?? null
      }
    }
    const seen: Seen = { text: '', finish: '' }
    const { stream: events } = await client.send(new ConverseStreamCommand(input))
    for await (const { contentBlockDelta, messageStop } of events ?? []) {
      seen.text += contentBlockDelta?.delta?.text ?? ''
      if (messageStop !== undefined) seen.finish = messageStop.stopReason ?? null
    }
    return seen
  } finally {
    client.destroy()
  }
}

/** With a body of Anthropic's, as applications that come from its own API write it. */
async function invoke(to: Client, prompt: string, stream: boolean, model = modelId): Promise<Seen> {
  const client = clientFor(to)
  const messages = [{ role: 'user', content: prompt }]
  const body = JSON.stringify({ anthropic_version: 'bedrock-2023-05-31', max_tokens: 100, messages })
  const input = { modelId: model, contentType: 'application/json', accept: 'application/json', body }
  const textOf = (bytes: Uint8Array | undefined) => JSON.parse(Buffer.from(bytes ?? []).toString())
  try {
    if (!stream) {
      const { content, stop_reason: finish } = textOf((await client.send(new InvokeModelCommand(input))).body)
      return { text: content.map(({ text = '' }) => text).join(''), finish }
    }
    const seen: Seen = { text: '', finish: '' }
    const { body: events } = await client.send(new InvokeModelWithResponseStreamCommand(input))
    for await (const { chunk } of events ?? []) {
      const { type, delta } = textOf(chunk?.bytes)
      seen.text += type === 'content_block_delta' ? (delta.text ?? '') : ''
      if (type === 'message_delta') seen.finish = delta.stop_reason
    }
    return seen
  } finally {
    client.destroy()
  }
}

async function see(ask: Ask, client: Client, prompt: string, stream: boolean): Promise<Seen> {
  try {
    return await ask(client, prompt, stream)
  } catch (error) {
    if (!(error instanceof BedrockRuntimeServiceException)) throw error
    const { name, message, $metadata } = error
    return { error: name, status: $metadata.httpStatusCode ?? 0, code: message.split(':', 1)[0] }
  }
}

const isFiltered = ({ finish }: Seen) => finish === 'guardrail_intervened' || finish === 'refusal'

const operations = [
  ['/model/{model}/converse', 'bedrock'],
  ['/model/{model}/converse-stream', 'bedrock'],
  ['/model/{model}/invoke', 'bedrock'],
  ['/model/{model}/invoke-with-response-stream', 'bedrock']
]

t.test('streamed or not × decision × direction × respond', async (t) => {
  const upstream = await fakeUpstream(t, bedrockAnswers(answers))
  const gateway = await gatewayFor(t, upstream, operations)
  await everyOutcome(t, { Converse: converse, InvokeModel: invoke }, gateway, see, isFiltered)

  t.test('a model goes to the upstream in its one spelling', async (t) => {
    for (const model of [modelId, arn]) {
      t.match(await converse(gateway.client, prompts.permit, false, model), { text: answers.permit })
      t.equal(upstream.requests.at(-1)?.url, `/model/${encodeURIComponent(model)}/converse`)
      t.match(await converse(gateway.client, prompts.permit, true, model), { text: answers.permit })
      t.equal(upstream.requests.at(-1)?.url, `/model/${encodeURIComponent(model)}/converse-stream`)
      t.match(await invoke(gateway.client, prompts.permit, false, model), { text: answers.permit })
      t.equal(upstream.requests.at(-1)?.url, `/model/${encodeURIComponent(model)}/invoke`)
      t.match(await invoke(gateway.client, prompts.permit, true, model), { text: answers.permit })
      t.equal(upstream.requests.at(-1)?.url, `/model/${encodeURIComponent(model)}/invoke-with-response-stream`)
    }
    t.equal(upstream.requests.at(-1)?.headers.authorization, 'Bearer upstream-secret')
  })

  t.test('another spelling names nothing, and no other path takes any', async (t) => {
    const before = upstream.requests.length
    const { url, key } = gateway.client
    const paths = [
      '/model/anthropic.claude-v2:0/converse',
      '/model/anthropic.claude-v2%3a0/converse',
      '/model/a%2Fb%2F../converse',
      '/model/a%2F%2E%2E%2Fb/converse',
      '/model/a%2F..%2Fb/converse',
      '/model/a%2F/converse',
      '/model/%61/converse',
      '/model/a%253A0/converse',
      '/model/a%3A0/convers%65',
      '/model%2Fa/converse',
      '/mod%65l/a/converse',
      '/v1%2Fchat/completions',
      '/model/anthropic.claude-v2:0/invoke',
      '/model/anthropic.claude-v2%3a0/invoke',
      '/model/anthropic.claude-v2%3A0/%69nvoke',
      '/model/anthropic.claude-v2%3A0/invoke-with-bidirectional-stream'
    ]
    for (const path of paths) {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ messages: [{ role: 'user', content: [{ text: prompts.permit }] }] })
      })
      t.equal(response.status, 404, path)
    }
    t.equal(upstream.requests.length, before, 'nothing was forwarded')
  })

  t.test('the SDK finds the id of a request that was refused, and asks once', async (t) => {
    const client = clientFor(gateway.client)
    t.teardown(() => client.destroy())
    const input = { modelId, messages: [{ role: 'user' as const, content: [{ text: prompts.forbid }] }] }
    const error = await client.send(new ConverseCommand(input)).catch((thrown: unknown) => thrown)
    t.ok(error instanceof BedrockRuntimeServiceException)
    const { $metadata, name } = error as BedrockRuntimeServiceException
    t.equal(name, 'ValidationException')
    t.equal($metadata.attempts, 1)
    t.ok($metadata.requestId)
  })
})

t.test('in front of an upstream that takes signatures alone', async (t) => {
  const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']
  const [id, secret] = ['AKIDEXAMPLE', 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'] as const
  const before = names.map((name) => process.env[name])
  t.teardown(() => {
    for (const [i, name] of names.entries()) {
      if (before[i] === undefined) delete process.env[name]
      else process.env[name] = before[i]
    }
  })
  process.env['AWS_ACCESS_KEY_ID'] = id
  process.env['AWS_SECRET_ACCESS_KEY'] = secret
  const answer = bedrockAnswers(answers)
  const upstream = await fakeUpstream(t, (res, request) => {
    const fault = signatureFault(request, { id, secret, region: 'us-east-1', service: 'bedrock' })
    if (fault === undefined) answer(res, request)
    else json({ message: fault }, 403)(res, request)
  })
  const route = (path: string) =>
    `  - { path: "${path}", dialect: bedrock }\n  - { path: "/said${path}", upstream_path: "${path}", dialect: bedrock, respond: message }`
  const yaml = [
    `upstreams: { default: { url: "${upstream.url}", auth: aws, aws: { region: us-east-1 } } }`,
    'routes:',
    ...operations.map(([path]) => route(path!)),
    'limits: { live_per_minute: 100000 }'
  ].join('\n')
  const { url, key } = await build(t, { yaml })
  const gateway = { client: { url, key }, said: { url: `${url}/said`, key } }
  await everyOutcome(t, { 'signed Converse': converse, 'signed InvokeModel': invoke }, gateway, see, isFiltered)
  for (const stream of [false, true]) {
    t.match(await converse(gateway.client, prompts.permit, stream, arn), { text: answers.permit })
  }
})

t.test('the SDK’s own handler speaks HTTP/2: it fails at once, and nothing is asked', async (t) => {
  const upstream = await fakeUpstream(t, bedrockAnswers(answers))
  const { client: to } = await gatewayFor(t, upstream, operations)
  const client = new BedrockRuntimeClient({
    endpoint: to.url,
    region: 'us-east-1',
    token: { token: to.key },
    authSchemePreference: ['httpBearerAuth']
  })
  t.teardown(() => client.destroy())
  const messages = [{ role: 'user' as const, content: [{ text: prompts.permit }] }]
  await t.rejects(client.send(new ConverseCommand({ modelId, messages })), { message: /Protocol error/ })
  t.equal(upstream.requests.length, 0)
})

t.test('a stream that breaks is an exception, never a clean end', async (t) => {
  const upstream = await fakeUpstream(t, bedrockAnswers(answers, { isCut: true }))
  const { client } = await gatewayFor(t, upstream, operations)
  await t.rejects(converse(client, prompts.permit, true))
  await t.rejects(invoke(client, prompts.permit, true))
})
