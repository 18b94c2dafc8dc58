/** The sound of a session, where its route has it scanned: over real sockets, with a transcription backend that is asked for each piece. */
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { formatIn } from '../../src/dialects/openai-realtime/sound.js'
import { type SoundFormat, sampleAt, wavOf } from '../../src/dialects/sound.js'
import { SoundPieces } from '../../src/proxy/sound/pieces.js'
import { type Client, type Event, spoken, until } from '../support/realtime.js'
import { hears, pause, pcm, saidIn, speech, wavIn, wordsIn } from '../support/sound.js'
import { type Answer, fakeUpstream, json, nowhere } from '../support/upstream.js'
import { gateway } from './realtime-harness.js'

const pcmu: SoundFormat = { coding: 'pcmu', rate: 8000 }
const cut = (bytes: Buffer) => [...new SoundPieces(pcm).add(bytes)]
const noise = (level: number, ms: number) => {
  const bytes = Buffer.alloc(48 * ms)
  for (let i = 0; i < bytes.length; i += 2) bytes.writeInt16LE(i % 4 === 0 ? level : -level, i)
  return bytes
}

async function house(
  t: Test,
  {
    yaml = '',
    answer = hears,
    base,
    constitution
  }: { yaml?: string; answer?: Answer; base?: string; constitution?: 'shipped' } = {}
) {
  const hearing = await fakeUpstream(t, answer)
  const built = await gateway(t, {
    ...(constitution !== undefined && { constitution }),
    yaml: [
      `transcription: { base_url: "${base ?? hearing.url}/v1", model: whisper-1, timeout: 2s }`,
      'defaults: { unscannable: { audio: scan } }',
      yaml
    ].join('\n')
  })
  await built.upstream.greet(created())
  const appended = () =>
    Buffer.concat(
      built.upstream.received
        .map((text) => JSON.parse(text))
        .filter(({ type }) => type === 'input_audio_buffer.append')
        .map(({ audio }) => Buffer.from(audio, 'base64'))
    )
  const types = () =>
    built.upstream.received.map((text) => JSON.parse(text).type).filter((type) => type !== 'input_audio_buffer.append')
  return { ...built, hearing, appended, types }
}

const session = (input?: unknown, output?: unknown) => ({
  type: 'realtime',
  audio: {
    input: { ...(input !== undefined && { format: input }) },
    output: { ...(output !== undefined && { format: output }) }
  }
})
const created = (input: unknown = { type: 'audio/pcm', rate: 24_000 }, output?: unknown): Event => ({
  type: 'session.created',
  event_id: 'up_0',
  session: session(input, output)
})

function say(client: Client, bytes: Buffer, step = 4800): void {
  for (let at = 0; at < bytes.length; at += step) {
    client.send({
      type: 'input_audio_buffer.append',
      event_id: `a${at / step}`,
      audio: bytes.subarray(at, at + step).toString('base64')
    })
  }
}
const commit = { type: 'input_audio_buffer.commit', event_id: 'c' }

t.test('formats are read as the API and its beta name them', async (t) => {
  const rows: [object, unknown][] = [
    [session({ type: 'audio/pcm', rate: 24_000 }), pcm],
    [session({ type: 'audio/pcm' }), pcm],
    [session({ type: 'audio/pcmu' }), pcmu],
    [session({ type: 'audio/pcma' }), { coding: 'pcma', rate: 8000 }],
    [session('pcm16'), pcm],
    [{ input_audio_format: 'g711_ulaw' }, pcmu],
    [{ input_audio_format: 'g711_alaw' }, { coding: 'pcma', rate: 8000 }],
    [session(), undefined],
    [{}, undefined],
    [session(null), undefined],
    [session({ type: 'audio/opus' }), 'unknown'],
    [session({ type: 'audio/pcm', rate: 1 }), 'unknown'],
    [session('constructor'), 'unknown'],
    [session(7), 'unknown']
  ]
  for (const [of, wanted] of rows) t.same(formatIn(of as never, 'input'), wanted, JSON.stringify(of))
  t.same(formatIn(session(undefined, { type: 'audio/pcmu' }) as never, 'output'), pcmu)
  // ITU-T G.711: the ends of both scales, and their zeros.
  const at = (coding: 'pcmu' | 'pcma', byte: number) => sampleAt(Buffer.from([byte]), 0, { coding, rate: 8000 })
  t.same(
    [0x80, 0x00, 0xff, 0x7f].map((byte) => at('pcmu', byte) + 0),
    [32_124, -32_124, 0, 0]
  )
  t.same(
    [0xaa, 0x2a, 0xd5, 0x55].map((byte) => at('pcma', byte)),
    [32_256, -32_256, 8, -8]
  )
  const wav = wavOf(Buffer.from([0x80, 0x00]), pcmu)
  t.same(
    [wav.readUInt32LE(24), wav.readUInt32LE(40), wav.readInt16LE(44), wav.readInt16LE(46)],
    [8000, 4, 32_124, -32_124]
  )
})

t.test('running sound is cut where somebody pauses, and every byte of it is in one piece', async (t) => {
  const running = Buffer.concat([pause(300), speech('one', 700), pause(500), speech('two', 3000), pause(210)])
  for (const step of [1, 7, 959, 960, 4801, running.length]) {
    const pieces = new SoundPieces(pcm)
    const found = []
    for (let at = 0; at < running.length; at += step) found.push(...pieces.add(running.subarray(at, at + step)))
    const rest = pieces.flush()
    if (rest !== undefined) found.push(rest)
    t.ok(Buffer.concat(found.map(({ bytes }) => bytes)).equals(running), `nothing is lost in steps of ${step}`)
    const heard = found.filter(({ isSilent }) => !isSilent)
    t.same(
      heard.map(({ bytes }) => wordsIn(bytes)),
      [['one'], ['two']],
      `in steps of ${step}`
    )
  }
})

t.test('what is cut within is heard again with what follows', async (t) => {
  const long = cut(Buffer.concat([noise(9000, 9000), noise(2000, 40), noise(9000, 12_000)]))
  t.equal(long.length, 2)
  const [first, second] = long
  t.ok(Math.abs(first!.bytes.length / 48 - 9040) <= 20, 'the quietest place of its end')
  t.ok(second!.again.equals(first!.bytes.subarray(-48_000)), 'a second of it is heard again')
  const syllables = ['bo', 'mb', 'er'].map((each) => Buffer.concat([speech(each, 200), pause(240)]))
  const spelled = cut(Buffer.concat(syllables)).filter(({ isSilent }) => !isSilent)
  t.same(
    spelled.map(({ again, bytes }) => wordsIn(Buffer.concat([again, bytes]))),
    [['bo'], ['bo', 'mb'], ['bo', 'mb', 'er']]
  )
  const whole = cut(Buffer.concat([speech('a whole sentence', 1500), pause(), speech('another', 1500), pause()]))
  t.same(
    whole.filter(({ isSilent }) => !isSilent).map(({ again }) => again.length),
    [0, 0],
    'what is no word is whole by itself'
  )
})

t.test('a noisy room behind who spoke goes on soon, and then seldom', async (t) => {
  const pieces = cut(Buffer.concat([speech('hello', 1000), noise(400, 20_000)]))
  t.same(
    pieces.map(({ bytes }) => Math.round(bytes.length / 48)),
    [1200, 400, 800, 1600, 3200, 6400],
    'ms'
  )
})

t.test('what a client says is heard before it goes on', async (t) => {
  const { client: connect, hearing, appended, types, upstream } = await house(t)
  const client = await connect()
  const fine = Buffer.concat([pause(200), speech('Good morning to you', 1500), pause()])
  say(client, fine)
  client.send(commit)
  t.ok(await until(() => types().includes('input_audio_buffer.commit')))
  t.ok(appended().equals(fine), 'to the byte')
  t.equal(hearing.requests.length, 1, 'silence is asked of nobody')
  t.same(saidIn(hearing.requests[0]!), ['Good morning to you'])

  upstream.received.length = 0
  say(client, Buffer.concat([speech('now a kaboom', 800), pause(400), speech('and more', 800)]))
  client.send(commit)
  const first = await client.event('error')
  t.match(first.error, { code: 'content_filter', event_id: /^a\d+$/ })
  t.match((await client.event(({ type, error }) => type === 'error' && error.event_id === 'c')).error, {
    code: 'content_filter'
  })
  t.ok(await until(() => types().length === 2))
  t.same(types(), ['input_audio_buffer.clear', 'input_audio_buffer.clear'], 'the turn is withheld whole')
  t.notMatch(appended().toString('latin1'), /kaboom/)

  upstream.received.length = 0
  say(client, fine)
  client.send(commit)
  t.ok(await until(() => types().length === 1), 'the session goes on')
  t.ok(appended().equals(fine))
})

t.test('without a pause or a commit nothing is lost, and what is no turn of its own does not wait', async (t) => {
  const { client: connect, appended, types } = await house(t)
  const client = await connect()
  say(client, speech('an open end', 600))
  client.send({ type: 'response.cancel' })
  t.ok(await until(() => types().includes('response.cancel')))
  t.equal(appended().length, 0, 'it is still listened to')
  client.send({ type: 'response.create' })
  t.ok(await until(() => types().includes('response.create')))
  t.match(appended().toString('latin1'), /an open end/, 'an answer is asked with all that was said')
  say(client, speech('kaboom', 600))
  client.send({ type: 'input_audio_buffer.clear' })
  client.send({ type: 'input_audio_buffer.commit' })
  t.ok(await until(() => types().includes('input_audio_buffer.commit')))
  t.notMatch(appended().toString('latin1'), /kaboom/, 'what is taken back was never sent')
  t.notOk(client.events.some(({ type }) => type === 'error'))
})

t.test('what nobody hears goes on as silence of the same length', async (t) => {
  const { client: connect, appended, types } = await house(t, { answer: json({ text: '  ' }) })
  const client = await connect()
  const murmur = Buffer.concat([speech('murmured', 700), noise(60, 600)])
  say(client, murmur, 1000)
  client.send(commit)
  t.ok(await until(() => types().includes('input_audio_buffer.commit')))
  t.ok(appended().equals(Buffer.alloc(murmur.length)))
})

t.test('what cannot be heard does not pass, and says why', async (t) => {
  const late: Answer = (res, request) =>
    void setTimeout(3000, undefined, { ref: false }).then(() => hears(res, request))
  const rows: [string, Parameters<typeof house>[1], string][] = [
    ['nobody there', { base: nowhere }, 'reader_failed'],
    ['an error', { answer: json({ error: {} }, 500) }, 'reader_failed'],
    ['no text', { answer: json({ words: [] }) }, 'reader_failed'],
    ['too late', { answer: late }, 'too_slow']
  ]
  for (const [name, settings, reason] of rows) {
    const { client: connect, appended, types, upstream } = await house(t, settings)
    const client = await connect()
    say(client, speech('Good morning', 600))
    client.send(commit)
    const { error } = await client.event('error')
    t.match(error, { code: 'unscannable_content', details: { pointer: '/audio', reason }, event_id: 'c' }, name)
    t.ok(await until(() => types().length > 0))
    t.notOk(types().includes('input_audio_buffer.commit'))
    t.equal(appended().length, 0)
    await upstream.send({ frames: talking([speech('Good evening', 900)]) })
    const { response } = await client.event('response.done')
    t.equal(response.status_details?.error.code, 'content_filter', `${name}: an answer, too`)
    t.notOk(client.events.some(({ type }) => type === 'response.output_audio.delta'))
  }
})

t.test('sound is heard in the format that the upstream takes it in', async (t) => {
  const { client: connect, hearing, appended, types, upstream } = await house(t)
  const client = await connect()
  const update = { type: 'session.update', event_id: 'mine', session: session({ type: 'audio/pcmu' }) }
  client.send(update)
  const ringing = Buffer.concat([speech('', 500, pcmu), pause(300, pcmu)])
  say(client, ringing, 160)
  t.ok(await until(() => types().length === 1))
  // Told of something else that was changed before, it could take one format for the other.
  await upstream.send({
    frames: [JSON.stringify({ type: 'session.updated', session: session({ type: 'audio/pcm' }) })]
  })
  await setTimeout(100)
  t.equal(hearing.requests.length, 0, 'until it says so, nothing is heard')
  t.equal(appended().length, 0)
  await upstream.send({
    frames: [JSON.stringify({ type: 'session.updated', session: session({ type: 'audio/pcmu' }) })]
  })
  t.ok(await until(() => appended().length > 0))
  t.equal(wavIn(hearing.requests[0]!).readUInt32LE(24), 8000)
  t.equal(Math.abs(wavIn(hearing.requests[0]!).readInt16LE(44 + 2 * 3000)), 32_124, 'samples of 16 bits')

  // A change that is refused leaves the format as it was, and the client knows which it was.
  client.send({ ...update, event_id: 'refused', session: session({ type: 'audio/pcma' }) })
  t.ok(await until(() => types().length === 2))
  const { event_id } = JSON.parse(upstream.received.findLast((text) => text.includes('session.update'))!)
  t.not(event_id, 'refused', 'no other event has its name')
  const before = appended().length
  say(client, ringing, 160)
  await upstream.send({
    frames: [JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: 'No.', event_id } })]
  })
  t.match(await client.event('error'), { error: { event_id: 'refused' } })
  t.ok(await until(() => appended().length > before), 'it is heard as it was')
})

t.test('sound in an item is heard as a whole', async (t) => {
  const { client: connect, types, upstream } = await house(t)
  const client = await connect()
  const item = (says: string, text = 'Listen.', event_id = 'i') => ({
    type: 'conversation.item.create',
    event_id,
    item: {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text },
        { type: 'input_audio', audio: speech(says, 800).toString('base64') }
      ]
    }
  })
  client.send(item('Good morning'))
  t.ok(await until(() => types().length === 1))
  t.match(JSON.parse(upstream.received.at(-1)!).item.content[1].audio, speech('Good morning', 800).toString('base64'))
  client.send(item('a kaboom', 'Listen.', 'j'))
  t.match(await client.event('error'), {
    error: { code: 'content_filter', event_id: 'j', param: '/item/content/1' }
  })
  client.send(item('boom', 'ka', 'k'))
  t.match(
    await client.event(({ error }) => error?.event_id === 'k'),
    { error: { code: 'content_filter' } },
    'with its text'
  )
  t.equal(types().length, 1)
})

let responses = 0
/** A response that says its texts in sound alone: no transcript of it is told. */
function talking(sounds: readonly Buffer[], { legacy = false, step = 9600 } = {}): string[] {
  const { frames } = spoken([''], { audio: true, legacy })
  const stem = legacy ? 'response.audio' : 'response.output_audio'
  const bytes = Buffer.concat(sounds)
  const events = frames.map((frame) => JSON.parse(frame) as Event)
  const place = events.find(({ type }) => type === `${stem}.delta`)!
  const deltas: Event[] = []
  for (let at = 0; at < bytes.length; at += step) {
    deltas.push({ ...place, event_id: `d${responses++}`, delta: bytes.subarray(at, at + step).toString('base64') })
  }
  return events.flatMap((event) => (event.type === `${stem}.delta` ? deltas : [event])).map((e) => JSON.stringify(e))
}

const soundOf = ({ events }: Client, since = 0) =>
  Buffer.concat(
    events
      .slice(since)
      .filter(({ type }) => /^response\.(?:output_)?audio\.delta$/.test(type))
      .map(({ delta }) => Buffer.from(delta, 'base64'))
  )

t.test('what a model says is heard before it is played', async (t) => {
  for (const legacy of [false, true]) {
    const { client: connect, upstream } = await house(t)
    const client = await connect()
    const fine = [
      speech('Good evening', 1500),
      pause(),
      speech('and good', 7900),
      noise(2000, 100),
      speech('night', 4000),
      pause(100)
    ]
    await upstream.send({ frames: talking(fine, { legacy }) })
    const { response } = await client.event('response.done')
    t.equal(response.status, 'completed')
    t.ok(soundOf(client).equals(Buffer.concat(fine)), 'to the byte')
    const types = client.events.map(({ type }) => type)
    const stem = legacy ? 'response.audio' : 'response.output_audio'
    t.ok(types.lastIndexOf(`${stem}.delta`) < types.indexOf(`${stem}.done`), 'before its end')

    const since = client.events.length
    await upstream.send({ frames: talking([speech('Well, ', 900), pause(), speech('kaboom', 900)], { legacy }) })
    const done = await client.event(({ type }) => type === 'response.done', since)
    t.match(done.response, { status: 'incomplete', status_details: { reason: 'content_filter' } })
    t.notMatch(soundOf(client, since).toString('latin1'), /kaboom/)
    t.ok(await until(() => upstream.received.some((text) => text.includes('response.cancel'))))
  }
})

t.test('what two pieces spell is judged as one', async (t) => {
  const { client: connect, upstream } = await house(t)
  const client = await connect()
  await upstream.send({ frames: talking([speech('well, ka', 300), pause(), speech('boom', 300)]) })
  const { response } = await client.event('response.done')
  t.equal(response.status_details?.error.code, 'content_filter')
  t.notMatch(soundOf(client).toString('latin1'), /boom/)
})

t.test('speech in which something is replaced is silent', async (t) => {
  const { client: connect, upstream } = await house(t, {
    constitution: 'shipped',
    yaml: 'routes: [{ path: /v1/realtime, dialect: openai-realtime, unscannable: { audio: scan }, redact: [personal_data] }]'
  })
  const client = await connect()
  const parts = [speech('Good evening to all of you', 1500), pause(), speech('I am me@example.com here', 1500), pause()]
  await upstream.send({ frames: talking(parts) })
  const { response } = await client.event('response.done')
  t.equal(response.status, 'completed')
  const played = soundOf(client)
  t.equal(played.length, Buffer.concat(parts).length)
  t.match(played.toString('latin1'), /Good evening/)
  t.notMatch(played.toString('latin1'), /example/)
  say(client, speech('write to me@example.com now', 900))
  client.send(commit)
  t.match(await client.event('error'), { error: { code: 'content_filter' } }, 'and what is said is refused')
})

t.test('what says more than sound is not heard, and does not pass', async (t) => {
  const { client: connect, hearing, upstream } = await house(t)
  const client = await connect()
  const frames = talking([speech('Good evening', 900)]).map((frame) =>
    frame.includes('audio.delta') ? JSON.stringify({ ...JSON.parse(frame), caption: 'x' }) : frame
  )
  await upstream.send({ frames })
  const { response } = await client.event('response.done')
  t.equal(response.status_details.error.code, 'content_filter')
  t.equal(soundOf(client).length, 0)
  client.send({
    type: 'input_audio_buffer.append',
    audio: speech('x').toString('base64'),
    caption: 'kaboom',
    event_id: 'e'
  })
  t.match(await client.event('error'), { error: { event_id: 'e' } })
  t.same(hearing.requests.flatMap(saidIn), ['x'], 'what a client adds is judged beside its sound')
})

t.test('observe holds nothing up, and hears nothing', async (t) => {
  const {
    client: connect,
    hearing,
    appended,
    upstream
  } = await house(t, {
    yaml: 'routes: [{ path: /v1/realtime, dialect: openai-realtime, unscannable: { audio: scan }, mode: observe }]'
  })
  const client = await connect()
  say(client, speech('kaboom', 600))
  t.ok(await until(() => appended().length === speech('kaboom', 600).length))
  await upstream.send({ frames: talking([speech('kaboom', 900)]) })
  await client.event('response.done')
  t.equal(soundOf(client).length, speech('', 900).length)
  t.equal(hearing.requests.length, 0)
})
