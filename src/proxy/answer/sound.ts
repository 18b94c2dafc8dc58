/** An answer that is sound and nothing else: what it says was judged as the text of its request, what it plays is not. */
import { Fault } from '../../base/errors.js'
import { readsAsText } from '../../dialects/media.js'
import { codingOf, readAll, type UpstreamAnswer } from '../upstream/send.js'

/** What servers call it; some name no format. A client is told this type and no parameter of it. */
const soundType =
  /^(?:audio\/(?:aac|flac|l16|mp3|mp4|mpeg|ogg|opus|pcm|wav|wave|webm|x-flac|x-wav)|application\/octet-stream)$/
/** Bytes; fewer are no sound, and may well be words. */
const fewest = 64
/** What the beginning of a text would show; to look through all of it would take long. */
const lookedAt = 64 * 1024

export function isSoundType(type: string): boolean {
  return soundType.test(type)
}

/**
 * @param limit bytes
 * @throws Fault `upstream_error` for what is coded, too small, too large, reads as text, or holds the upstream's credential
 */
export async function readSound(answer: UpstreamAnswer, limit: number): Promise<Buffer> {
  const bytes = await readAll(answer, limit)
  const coding = codingOf(answer)
  if (coding !== undefined && coding !== 'identity') throw noSound('the sound is coded')
  if (bytes.length > limit) throw noSound('the answer is too large')
  if (bytes.length < fewest) throw noSound('the answer is too small')
  if (readsAsText(bytes.subarray(0, lookedAt))) throw noSound('the answer reads as text')
  if (answer.key !== undefined && bytes.includes(answer.key)) throw noSound('the answer holds the credential')
  return bytes
}

function noSound(internal: string): Fault {
  return new Fault('upstream_error', { internal })
}
