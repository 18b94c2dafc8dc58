/** Reads a whole answer, and looks in it for the credential that the upstream was given. */
import type { ChatContent, Json } from '../../base/chat.js'
import { Fault } from '../../base/errors.js'
import { Secret } from '../../dialects/secret.js'
import { decodeBody } from '../../edge/body.js'
import { type ReadJson, readJson } from '../../json/parse.js'
import { codingOf, readAll, type UpstreamAnswer } from '../upstream/send.js'

/** An answer has more values than a request may: a long one with token probabilities holds hundreds of thousands. */
const answerNodes = 1_000_000

export interface AnswerValue<T> {
  value: T
  /** Its text: the original bytes where every parser reads this value from them, else its serialisation. */
  bytes: string | Buffer
}

/** The fault for an answer that cannot be used. */
export function unusable(internal: string, cause?: unknown): Fault {
  return new Fault('upstream_error', { cause, internal })
}

/**
 * @param isOf whether a value is one that the caller can use
 * @param fault for an answer that holds no such value
 * @throws Fault that one; `upstream_error` where the answer holds the credential, is cut or too large
 */
export function readValue<T extends Json>(
  answer: UpstreamAnswer,
  limit: number,
  isOf: (value: Json) => value is T,
  fault: typeof unusable
): AnswerValue<T> | Promise<AnswerValue<T>> {
  const coding = codingOf(answer)
  const { body } = answer
  const isPlain = coding === undefined || coding === 'identity'
  if (isPlain && Buffer.isBuffer(body) && body.length <= limit) return parse(answer, body, isOf, fault)
  return readDecoded(answer, limit, fault).then((decoded) => parse(answer, decoded, isOf, fault))
}

/** @throws Fault as `readValue` */
export async function readDecoded(answer: UpstreamAnswer, limit: number, fault: typeof unusable): Promise<Buffer> {
  const bytes = await readAll(answer, limit)
  try {
    return await decodeBody(bytes, codingOf(answer), limit)
  } catch (cause) {
    throw fault('the answer is not readable', cause)
  }
}

function parse<T extends Json>(
  answer: UpstreamAnswer,
  decoded: Buffer,
  isOf: (value: Json) => value is T,
  fault: typeof unusable
): AnswerValue<T> {
  let read: ReadJson
  try {
    read = readJson(decoded, { nodes: answerNodes, anyNumbers: true })
  } catch (cause) {
    throw fault('the answer is not readable', cause)
  }
  const { value, isPlain } = read
  if (!isOf(value)) throw fault('the answer is not an object')
  refuseCredential(answer.key, value)
  return { value, bytes: isPlain ? decoded : JSON.stringify(value) }
}

/**
 * The upstream's credential must not be shown to a client.
 * @throws Fault `upstream_error` where a leaf or key of the value holds it, plain or escaped
 */
export function refuseCredential(key: string | undefined, value: Json): void {
  if (key !== undefined && new Secret(key).isWithin(value)) throw shown()
}

/** @throws Fault `upstream_error` where consecutive texts spell the credential */
export function refuseSpelledCredential(key: string | undefined, { parts }: Pick<ChatContent, 'parts'>): void {
  if (key === undefined) return
  const texts = parts.filter(({ isKey, role }) => isKey !== true && role !== 'parameter').map(({ text }) => text)
  if (new Secret(key).isAcross(texts)) throw shown()
}

function shown(): Fault {
  return new Fault('upstream_error', { internal: 'the answer holds the credential' })
}
