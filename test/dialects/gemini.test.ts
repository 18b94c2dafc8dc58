/** generateContent, v1beta, as of 2025-10. */
import t from 'tap'
import type { Json, JsonObject } from '../../src/base/chat.js'
import type { Target } from '../../src/dialects/dialect.js'
import { names } from '../../src/dialects/gemini/names.js'
import { dialects, operationAt } from '../../src/dialects/index.js'
import type { WireEvent } from '../../src/dialects/reply-stream.js'
import { type Assembled, dialectSuite, facts, recorded } from './dialect-suite.js'

const at = (operation: string) => operationAt('gemini', `/v1beta/models/m:${operation}`)!
const generate = at('generateContent')
const stream = at('streamGenerateContent')
const params = { model: 'gemini-2.5-flash' }
const plain: Target = { params, query: '' }
const sse: Target = { params, query: '?alt=sse' }

const event = (data: Json): WireEvent => ({ data: JSON.stringify(data) })
const chunk = (parts: Json, more: JsonObject = {}) =>
  event({ candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }] })

/** Thoughts, a text, and the text of a second candidate. */
function spell(pieces: readonly string[]): WireEvent[] {
  return [
    ...pieces.map((text) => chunk([{ text, thought: true }])),
    ...pieces.map((text) => chunk([{ text }])),
    chunk([{ functionCall: { name: 'f', args: { city: 'Bern' } }, thoughtSignature: 'c2ln' }]),
    ...pieces.map((text) => event({ candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 1 }] })),
    event({
      candidates: [
        { index: 0, finishReason: 'STOP' },
        { index: 1, finishReason: 'STOP' }
      ],
      usageMetadata: { totalTokenCount: 3 }
    })
  ]
}

const channels = [
  '/candidates/0/content/parts/thought',
  '/candidates/0/content/parts/text',
  '/candidates/1/content/parts/text'
]

function assembleChunks(chunks: readonly ReturnType<typeof JSON.parse>[]): Assembled {
  const texts: Record<string, string> = {}
  const begun = new Set<number>()
  const finishes = new Map<number, string>()
  let blocked: string | undefined
  for (const { candidates = [], promptFeedback, error } of chunks) {
    if (error !== undefined) throw new Error('an error')
    blocked ??= promptFeedback?.blockReason
    for (const { index, content, finishReason } of candidates) {
      if (finishes.has(index)) throw new Error('a candidate goes on after its end')
      begun.add(index)
      for (const { text, thought } of content?.parts ?? []) {
        const pointer = `/candidates/${index}/content/parts/${thought ? 'thought' : 'text'}`
        if (text !== undefined) texts[pointer] = (texts[pointer] ?? '') + text
      }
      if (finishReason !== undefined) finishes.set(index, finishReason)
    }
  }
  const isEnded = begun.size > 0 && finishes.size === begun.size
  return { texts, finish: blocked ?? (isEnded ? [...finishes.values()][0] : undefined) }
}

function assembleEvents(frames: string): Assembled {
  const events = frames.split('\r\n\r\n')
  if (events.pop() !== '') throw new Error('an event has no end')
  return assembleChunks(
    events.map((each) => {
      if (!each.startsWith('data: ')) throw new Error('not an event')
      return JSON.parse(each.slice('data: '.length))
    })
  )
}

function assembleArray(frames: string): Assembled {
  if (frames === '') return { texts: {}, finish: undefined }
  const isWhole = frames.endsWith(']')
  const { texts, finish } = assembleChunks(JSON.parse(isWhole ? frames : `${frames}]`))
  return { texts, finish: isWhole ? finish : undefined }
}

const refused = [
  { ...event({ candidates: [] }), event: 'named' },
  event({ candidates: {} }),
  event({ candidates: [5] }),
  chunk(5),
  chunk([5])
]

const request = (hole: (n: number) => Json): JsonObject => ({
  systemInstruction: { parts: [{ text: 'be kind' }], more: hole(0) },
  contents: [
    {
      role: 'user',
      parts: [{ text: 'x', videoMetadata: hole(1) }, { functionResponse: { name: 'f', response: hole(2) } }],
      more: hole(3)
    },
    {
      role: 'model',
      parts: [
        { functionCall: { name: 'f', args: hole(4) } },
        { codeExecutionResult: hole(0) },
        { of_tomorrow: hole(1) }
      ]
    }
  ],
  tools: hole(2),
  toolConfig: hole(3),
  safetySettings: hole(4),
  generationConfig: { responseSchema: hole(0), stopSequences: hole(1) },
  other: hole(2)
})

const answer = (hole: (n: number) => Json): JsonObject => ({
  candidates: [
    {
      content: { parts: [{ text: 'x', thought: true }, { functionCall: hole(0) }, { more: hole(1) }], role: 'model' },
      finishReason: 'STOP',
      index: 0
    },
    { content: hole(2), groundingMetadata: hole(3), citationMetadata: hole(4), index: 1 }
  ],
  promptFeedback: hole(0),
  modelVersion: 'm'
})

const generating = { names, request, answer }
dialectSuite(t, { ...generating, operation: generate, target: plain })
t.test('alt=sse', async (t) => {
  const events = { spell, channels, assemble: assembleEvents, filteredFinish: 'SAFETY', refused }
  dialectSuite(t, { ...generating, operation: stream, target: sse, stream: events })
})
t.test('a JSON array', async (t) => {
  const array = { spell, channels, assemble: assembleArray, filteredFinish: 'SAFETY', refused }
  dialectSuite(t, { ...generating, operation: stream, target: plain, stream: array })
})
t.test('countTokens', async (t) => {
  dialectSuite(t, {
    operation: at('countTokens'),
    target: plain,
    names,
    request: (hole) => ({ generateContentRequest: { ...request(hole), model: 'models/m' } }),
    answer: () => ({ totalTokens: 7, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 7 }] })
  })
})
t.test('embedContent, batchEmbedContents', async (t) => {
  const one = (hole: (n: number) => Json) => ({
    model: 'models/m',
    content: { parts: [{ text: 'x' }], more: hole(0) },
    title: hole(1),
    taskType: 'RETRIEVAL_QUERY'
  })
  dialectSuite(t, {
    operation: at('embedContent'),
    target: plain,
    names,
    request: one,
    answer: () => ({ embedding: { values: [0.1] } })
  })
  dialectSuite(t, {
    operation: at('batchEmbedContents'),
    target: plain,
    names,
    request: (hole) => ({ requests: [one(hole)], more: hole(2) }),
    answer: () => ({ embeddings: [{ values: [0.1] }] })
  })
  const textsOf = (name: string, body: JsonObject) =>
    at(name)
      .readReply(body)
      ?.parts.map(({ text }) => text)
  t.same(textsOf('embedContent', { embedding: { values: ['x'] } }), ['x'], 'a text is judged, and is no embedding')
  t.same(textsOf('countTokens', { totalTokens: 1, note: 'x' }), ['note', 'x'], 'so is a note, and its name')
  t.same(
    textsOf('embedContent', { embedding: { values: [0.5] }, aNewCount: 3 }),
    ['aNewCount'],
    'a new number passes, if its name does'
  )
  t.equal(at('countTokens').readReply({ note: 'x' }), undefined, 'without its number it is no answer')
})

t.test('each path names its operation', async (t) => {
  for (const operation of dialects.gemini) {
    for (const path of operation.paths) t.equal(operationAt('gemini', path), operation, path)
  }
})

t.test('the kind of a medium is its declared type in any case, and without one what its bytes are', async (t) => {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='
  const mp3 = Buffer.concat([Buffer.from('ID3'), Buffer.alloc(64, 7)]).toString('base64')
  const mp4 = Buffer.from('00000018667479706d70343200000000', 'hex').toString('base64')
  for (const [inlineData, kind] of [
    [{ mimeType: 'IMAGE/PNG', data: png }, 'image'],
    [{ mimeType: ' Image/png', data: png }, 'image'],
    [{ mime_type: 'Audio/mpeg', data: mp3 }, 'audio'],
    [{ data: png }, 'image'],
    [{ mimeType: 'application/octet-stream', data: png }, 'image'],
    [{ mimeType: 7, data: mp3 }, 'audio'],
    [{ mimeType: '', data: mp4 }, 'video'],
    [{ mimeType: 'application/pdf', data: 'JVBERi0xLjQKAAAAAAAAAAAAAAAA' }, 'file'],
    [{ data: 'bm90aGluZw==' }, 'file']
  ] as [JsonObject, string][]) {
    const { media } = generate.readRequest({ contents: [{ role: 'user', parts: [{ inlineData }] }] }, plain)
    t.match(media, [{ kind }], JSON.stringify(inlineData).slice(0, 60))
  }
})

t.test(
  'a recorded request, in both spellings: whose words each text is, what is media, what is read as one',
  async (t) => {
    const body = JSON.parse(recorded('gemini/request.json'))
    const { parts, joined, media, stream: streams, model } = stream.readRequest(body, sse)
    t.same([streams, model], [true, 'gemini-2.5-flash'])
    const role = (pointer: string) => parts.find((part) => part.pointer === pointer)?.role
    t.same(
      {
        model: role('path.model'),
        system: role('/system_instruction/parts/0/text'),
        question: role('/contents/0/parts/0/text'),
        call: role('/contents/1/parts/0/functionCall/args/city'),
        tool: role('/contents/2/parts/0/functionResponse/response/weather'),
        output: role('/contents/2/parts/1/code_execution_result/output'),
        more: role('/contents/2/parts/2/text'),
        prefill: role('/contents/3/parts/0/text'),
        description: role('/tools/0/functionDeclarations/0/description'),
        schema: role('/generationConfig/responseSchema/properties/answer/description'),
        stop: role('/generationConfig/stopSequences/0')
      },
      {
        model: 'parameter',
        system: 'system',
        question: 'user',
        call: 'assistant',
        tool: 'tool',
        output: 'tool',
        more: 'user',
        prefill: 'assistant',
        description: 'definition',
        schema: 'definition',
        stop: 'parameter'
      }
    )
    t.same(
      media.map(({ pointer, kind }) => [pointer, kind]),
      [
        ['/contents/0/parts/1/inlineData', 'image'],
        ['/contents/0/parts/2/file_data', 'video'],
        ['/cachedContent', 'file']
      ]
    )
    t.notOk(parts.some(({ pointer }) => pointer.endsWith('thoughtSignature')))
    const runs = joined.map((run) => run.map((i) => parts[i]!.text).join('|'))
    t.ok(runs.includes('What is on it?|And now?'), 'all that the user said')
    t.ok(runs.includes('18 degrees|42'), 'what functions brought back')
    t.ok(
      runs.some((run) => run.includes('18 degrees|42|And now?')),
      'what functions brought back, and the user after it'
    )
  }
)

t.test('a recorded answer and the same as a recorded stream hold the same texts', async (t) => {
  const whole = generate.readReply(JSON.parse(recorded('gemini/answer.json')))!
  const held = stream.openStream(sse)
  for (const line of recorded('gemini/stream.sse').split('\n')) {
    t.equal(held.complete, false)
    if (line.startsWith('data: ')) held.push({ data: line.slice('data: '.length) })
    if (line.includes('"STOP"')) break
  }
  t.equal(held.complete, true, 'it may end after the reason to end')
  const { parts } = held.content()
  const text = (list: typeof parts, pointer: string) =>
    list.find((part) => part.pointer === pointer && !part.isKey)?.text
  t.equal(text(parts, '/candidates/0/content/parts/thought'), text(whole.parts, '/candidates/0/content/parts/0/text'))
  t.equal(text(parts, '/candidates/0/content/parts/text'), text(whole.parts, '/candidates/0/content/parts/1/text'))
  t.equal(text(parts, '/candidates/0/content/parts/functionCall/0/args/city'), 'Bern')
})

t.test('arguments spelled out string by string are one text', async (t) => {
  const held = stream.openStream(sse)
  for (const stringValue of ['how to ', 'do it']) {
    held.push(
      chunk([
        { functionCall: { partialArgs: [{ jsonPath: '$.a', stringValue, willContinue: true }], willContinue: true } }
      ])
    )
  }
  const { parts } = held.content()
  t.ok(parts.some(({ text }) => text === 'how to do it'))
})

t.test('a refusal of ours has the fields of a recorded one', async (t) => {
  const [blocked, withheld] = JSON.parse(recorded('gemini/filtered.json'))
  t.ok(generate.readReply(blocked))
  t.ok(generate.readReply(withheld))
  const ours = generate.turn(facts('forbid', plain))
  t.same(
    Object.keys(blocked).filter((name) => !(name in ours)),
    []
  )
  t.match(ours, { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } })
  const filtered = generate.filtered(withheld, facts('forbid', plain, 'answer'))
  t.same(
    Object.keys(withheld).filter((name) => !(name in filtered)),
    []
  )
  t.match(filtered, { candidates: [{ finishReason: 'SAFETY', index: 0 }], usageMetadata: { promptTokenCount: 12 } })
})

t.test('one element may stand without its list, and is judged and forwarded as it stands', (t) => {
  const body = { system_instruction: { parts: { text: 'be a cat' } }, contents: { parts: { text: 'hello' } } }
  const { parts } = generate.readRequest(body, plain)
  t.match(
    parts.filter(({ isKey, role }) => isKey !== true && role !== 'parameter'),
    [
      { role: 'system', text: 'be a cat', pointer: '/system_instruction/parts/text' },
      { role: 'user', text: 'hello', pointer: '/contents/parts/text' }
    ]
  )
  const many = { contents: [{ parts: { text: 'a' } }, { role: 'model', parts: [{ text: 'b' }] }] }
  t.same(
    generate.readRequest(many, plain).parts.flatMap(({ text, pointer }) => (text.length === 1 ? [pointer] : [])),
    ['/contents/0/parts/text', '/contents/1/parts/0/text']
  )
  t.end()
})

t.test('requests of another shape are refused, and the field is named', async (t) => {
  const user = { parts: [{ text: 'x' }] }
  for (const [operation, body, field] of [
    [generate, {}, 'contents'],
    [generate, { contents: 'x' }, 'contents'],
    [generate, { contents: { parts: 'x' } }, 'contents.parts'],
    [generate, { contents: [] }, 'contents'],
    [generate, { contents: ['x'] }, 'contents.0'],
    [generate, { contents: [{ parts: 'x' }] }, 'contents.0.parts'],
    [generate, { contents: [{ parts: ['x'] }] }, 'contents.0.parts.0'],
    [generate, { contents: [{ role: 5, parts: [] }] }, 'contents.0.role'],
    [generate, { contents: [user], systemInstruction: 'x' }, 'systemInstruction'],
    [at('countTokens'), { generateContentRequest: {} }, 'contents'],
    [at('countTokens'), { generateContentRequest: { contents: [user] }, contents: [user] }, 'contents'],
    [at('embedContent'), {}, 'content'],
    [at('batchEmbedContents'), { requests: [{}] }, 'requests.0.content']
  ] as [typeof generate, JsonObject, string][]) {
    t.throws(
      () => operation.readRequest(body, plain),
      { code: 'validation_error', fields: { details: { field } } },
      field
    )
  }
})
