/** Every outcome that an application can meet, asked for through an SDK: one table for all of them. */
import { generateText, type LanguageModel, streamText } from 'ai'
import type { Test } from 'tap'
import { build } from './gateway.js'
import { texts } from './texts.js'

const aws = ['wJalrXUtnFEMIK7MDENGbPxRfiCYzQ8vTn2LpKd4', `AKIA${'Q3EGRN5TWPL7XK2M'}`]
export const prompts = {
  permit: texts.permitted,
  forbid: texts.forbidden,
  depends: texts.ambiguous,
  divert: `Deploy with AWS_SECRET_ACCESS_KEY=${aws[0]} and key id ${aws[1]}`,
  /** Harmless prompts; what the backend says to them is not. */
  answerForbid: 'Tell me about «forbidden» things.',
  answerDivert: 'Tell me about «secret» things.'
}
type Prompt = keyof typeof prompts

/** What the backend says, by the word that a prompt holds. */
export const answers = {
  permit: 'Use pkill with the name of the process.',
  forbidden: texts.forbiddenAnswer,
  secret: `${aws[1]} is the key id for the secret ${aws[0]}.`
}

export interface Seen {
  text?: string | undefined
  refusal?: string
  finish?: string | null
  error?: string
  status?: number
  code?: unknown
}

export interface Client {
  url: string
  key: string
}

/** One way to ask, as an application writes it. */
export type Ask = (client: Client, prompt: string, stream: boolean) => Promise<Seen>

/** The same, with what the SDK throws told as what application code can read off it. */
export type See = (ask: Ask, client: Client, prompt: string, stream: boolean) => Promise<Seen>

export const statuses = {
  forbid: [400, 'content_filter'],
  divert: [403, 'review_required'],
  depends: [422, 'context_required']
} as const
export type Stopped = keyof typeof statuses

export async function viaVercel(model: LanguageModel, prompt: string, stream: boolean): Promise<Seen> {
  if (!stream) {
    const { text, finishReason } = await generateText({ model, prompt, maxRetries: 0 })
    return { text, finish: finishReason }
  }
  let failure: unknown
  const result = streamText({
    model,
    prompt,
    maxRetries: 0,
    onError: ({ error }) => {
      failure = error
    }
  })
  let text = ''
  for await (const piece of result.textStream) text += piece
  if (failure !== undefined) throw failure
  return { text, finish: await result.finishReason }
}

/** A gateway with each operation twice: under its own path, and under `/said`, where refusals are turns. */
export async function gatewayFor(t: Test, upstream: { url: string }, operations: readonly (readonly string[])[]) {
  const routes = operations.flatMap(([path, dialect]) => [
    `  - { path: "${path}", dialect: ${dialect} }`,
    `  - { path: "/said${path}", upstream_path: "${path}", dialect: ${dialect}, respond: message }`
  ])
  const yaml = [
    `upstreams: { default: { url: "${upstream.url}", key: upstream-secret } }`,
    'routes:',
    ...routes,
    'limits: { live_per_minute: 100000 }'
  ].join('\n')
  const { url, key } = await build(t, { yaml })
  return { client: { url, key }, said: { url: `${url}/said`, key } }
}

/** What people are asked; where there is no conversation in which to answer, they are asked to say more. */
const asked = /What is this about\?|I can't tell what this is about/

/** @param isFiltered whether an application can tell that an answer, or its own prompt, was refused */
export async function everyOutcome(
  t: Test,
  sdks: Readonly<Record<string, Ask>>,
  { client, said }: { client: Client; said: Client },
  see: See,
  isFiltered: (seen: Seen) => boolean
): Promise<void> {
  for (const [sdk, ask] of Object.entries(sdks)) {
    for (const stream of [false, true]) {
      const name = (prompt: Prompt, respond: string) =>
        `${sdk}, ${stream ? 'streamed' : 'whole'}, ${prompt}, ${respond}`
      for (const [respond, to] of [
        ['error', client],
        ['message', said]
      ] as const) {
        const permitted = await see(ask, to, prompts.permit, stream)
        t.match(permitted, { text: answers.permit, finish: /stop|complete|end_turn/i }, name('permit', respond))

        const forbidden = await see(ask, to, prompts.answerForbid, stream)
        t.ok(isFiltered(forbidden), `${name('answerForbid', respond)}: ${JSON.stringify(forbidden)}`)
        t.notMatch(JSON.stringify(forbidden), /black powder/, name('answerForbid', respond))

        const diverted = await see(ask, to, prompts.answerDivert, stream)
        t.match(
          diverted.text,
          /Someone needs to look at this answer .*\nYour reference: rev_/,
          `${name('answerDivert', respond)}: ${JSON.stringify(diverted)}`
        )
      }
      for (const [prompt, [status, code]] of Object.entries(statuses) as [Stopped, (typeof statuses)['forbid']][]) {
        t.match(await see(ask, client, prompts[prompt], stream), { error: /./, status, code }, name(prompt, 'error'))
      }
      const refused = await see(ask, said, prompts.forbid, stream)
      t.ok(isFiltered(refused), `${name('forbid', 'message')}: ${JSON.stringify(refused)}`)
      t.match(await see(ask, said, prompts.divert, stream), { text: /rev_/ }, name('divert', 'message'))
      t.match(await see(ask, said, prompts.depends, stream), { text: asked }, name('depends', 'message'))
    }
  }
}
