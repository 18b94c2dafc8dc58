/** The upstream's credential, which an answer must not show to a client. */
import type { ChatContent, Json } from '../base/chat.js'
import { Fault } from '../base/errors.js'
import { Secret } from '../dialects/secret.js'

/** @throws Fault `upstream_error` where a leaf or key of the value holds it, plain or escaped */
export function refuseCredential(key: string | undefined, value: Json): void {
  if (key !== undefined && new Secret(key).isWithin(value)) throw shown()
}

/** @throws Fault `upstream_error` where texts that stand one behind the other spell it */
export function refuseSpelledCredential(key: string | undefined, { parts }: Pick<ChatContent, 'parts'>): void {
  if (key === undefined) return
  const texts = parts.filter(({ isKey, role }) => isKey !== true && role !== 'parameter').map(({ text }) => text)
  if (new Secret(key).isAcross(texts)) throw shown()
}

function shown(): Fault {
  return new Fault('upstream_error', { internal: 'the answer holds the credential' })
}
