/** Writes a streamed reply to a socket at the pace of its reader. */
import { once } from 'node:events'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { cutOff, isClosed, isComplete } from '../edge/http2.js'
import { Cancel } from './cancel.js'
import { ClientGone, type Reply } from './exchange.js'

/**
 * Resolves when the response is ended or destroyed. A stream that breaks ends with the dialect's error frame and a
 * destroyed connection, so that no client takes it for complete.
 */
export async function writeFrames(res: ServerResponse, reply: Reply, headers: OutgoingHttpHeaders): Promise<void> {
  const { frames, broken } = reply.rest!
  res.writeHead(reply.status, headers)
  try {
    const { body } = reply
    // Whoever still knows the reply would keep it while the rest is taken.
    reply.body = ''
    await write(res, body)
    for (;;) {
      const { done, value } = await frames.next()
      if (done) {
        res.end(value)
        return
      }
      await write(res, value)
    }
  } catch (error) {
    if (error instanceof ClientGone || isClosed(res)) {
      res.destroy()
      return
    }
    // The frame first, and only then the cut: both must reach the client.
    res.write(broken(error), () => cutOff(res))
  } finally {
    // Ends the upstream, whatever stopped us here.
    void frames.return('').catch(() => {})
  }
}

async function write(res: ServerResponse, text: string | Buffer): Promise<void> {
  if (text.length === 0 || res.write(text)) return
  if (isClosed(res)) throw new ClientGone()
  // `close` without `drain`: the reader left. Whichever comes, the other is listened for no longer: a slow reader drains often.
  const waiting = new AbortController()
  const { signal } = waiting
  await Promise.race([once(res, 'drain', { signal }), once(res, 'close', { signal })])
  waiting.abort()
  if (isClosed(res)) throw new ClientGone()
}

/** Cancels the exchange when the client leaves before its response is complete. */
export function cancelOnLeave(res: ServerResponse): Cancel {
  const cancel = new Cancel()
  res.once('close', () => {
    if (!isComplete(res)) cancel.cancel(new ClientGone())
  })
  return cancel
}
