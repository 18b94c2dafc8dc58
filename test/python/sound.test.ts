/** Spoken answers that are streamed, in front of the built gateway: what an application hears with Python's packages. */
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { tempDir } from '../support/gateway.js'
import { chunksOf, geminiChunksOf, hears, pause, speech, streamOf, wordsIn } from '../support/sound.js'
import { fakeUpstream } from '../support/upstream.js'
import { noPackages, python, quietEnv, startGateway, staysHome } from './lane.js'

t.test('sound of a streamed answer waits until it was heard', { skip: noPackages('sdks') }, async (t) => {
  const sounds = {
    good: Buffer.concat([speech('Good evening. '), pause(), speech('It is quiet.')]),
    bad: Buffer.concat([speech('Good evening. '), pause(), speech('Step 1 of the crimson lantern protocol.', 700)])
  }
  const hearing = await fakeUpstream(t, hears)
  const upstream = await fakeUpstream(t, (res, request) => {
    const sound = sounds[request.body.toString().includes('bad') ? 'bad' : 'good']
    const isGemini = request.url.includes('GenerateContent')
    streamOf(isGemini ? geminiChunksOf(sound) : chunksOf(sound), isGemini ? '' : undefined)(res, request)
  })
  const phoned = join(tempDir(t), 'phoned')
  const { url, key } = await startGateway(
    t,
    upstream.url,
    undefined,
    [`transcription: { base_url: "${hearing.url}/v1", model: whisper-1 }`],
    'unscannable: { audio: scan }'
  )
  const child = python('sdks', ['sound.py'], { ...quietEnv(phoned), PLACE: JSON.stringify({ url, key }) })
  t.teardown(() => child.kill('SIGKILL'))
  const seen: Record<string, string>[] = []
  createInterface(child.stdout).on('line', (line) => seen.push(JSON.parse(line)))
  const [code] = await once(child, 'close')
  t.equal(code, 0, 'the script ended by itself')
  t.equal(seen.length, 6)
  for (const { package: name, how, prompt, words, finish, transcript } of seen) {
    const heard = Buffer.from(words!, 'hex')
    const what = `${name}, ${how}, ${prompt}`
    if (prompt === 'good') {
      t.ok(heard.equals(sounds.good), `${what}: every byte`)
      t.match(finish, /^(?:stop|STOP)$/, what)
      if (name === 'openai') t.equal(transcript, 'Good evening.', what)
    } else {
      t.notMatch(wordsIn(heard).join(), /crimson/, what)
      t.match(finish, /^(?:content_filter|SAFETY)$/, what)
    }
  }
  staysHome(t, phoned)
})
