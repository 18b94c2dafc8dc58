/** A lane: passes the events of one response, or those of none, through the window of a streamed answer. */
import { HeldStream } from '../../dialects/held-stream.js'
import { RealtimeStreamShape, type Until } from '../../dialects/openai-realtime/stream.js'
import type { WireEvent } from '../../dialects/reply-stream.js'
import type { Answers } from '../answer/answer.js'
import type { Streams } from '../answer/stream.js'
import type { Exchange } from '../exchange.js'
import { HeardAnswer } from '../sound/answer-sound.js'
import { ResponseSound, type TypedEvent } from './response-sound.js'
import type { Session } from './session.js'

/** Unread frames at which reading from the upstream pauses. */
const fullEvents = 64

export class Lane {
  readonly shape: RealtimeStreamShape
  /** The items that the response has announced. */
  readonly items = new Set<string>()
  readonly #exchange: Exchange
  readonly #stream: HeldStream
  readonly #session: Session
  /** Undefined where its sound is not heard. */
  readonly #sound: HeardAnswer | undefined
  #waiting: TypedEvent[] = []
  #isOver = false
  #isSending = false
  #isHearing = false
  #wake: (() => void) | undefined
  #hasRoom: (() => void) | undefined

  constructor(session: Session, exchange: Exchange, until: Until) {
    this.#session = session
    this.#exchange = exchange
    this.shape = new RealtimeStreamShape(until, session.nextId)
    this.#stream = new HeldStream(this.shape)
    const { ears, route } = session
    if (ears !== undefined && route.output !== 'off') this.#sound = new HeardAnswer(ears, new ResponseSound(ears))
    // Marked as started: a withheld response ends as a response of the session, even if none of it has left.
    this.#stream.started = true
  }

  /** Whether some of it waits for the client, or is being transcribed. */
  get isBusy(): boolean {
    return this.#isSending || this.#isHearing || this.#waiting.length > 0
  }

  /** Resolves when there is room for more. */
  push(event: TypedEvent): Promise<void> | undefined {
    if (this.#isOver) return undefined
    this.#waiting.push(event)
    this.#wake?.()
    if (this.#waiting.length < fullEvents) return undefined
    return new Promise((resolve) => {
      this.#hasRoom = resolve
    })
  }

  /** Nothing more will come. */
  close(): void {
    this.#isOver = true
    this.#wake?.()
    this.#hasRoom?.()
  }

  async *#events(): AsyncGenerator<readonly WireEvent[], void, undefined> {
    for (;;) {
      if (this.#waiting.length > 0) {
        const events = this.#waiting
        this.#waiting = []
        this.#hasRoom?.()
        if (this.#sound === undefined) yield events.map(({ data }) => ({ data }))
        else yield* this.#sound.events([events], (isHearing) => (this.#isHearing = isHearing))
      } else if (this.#isOver) return
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }

  /** Sends the permitted events. Resolves at the end of the response; rejects as the stream of an answer does. */
  async run(): Promise<void> {
    const source = {
      framing: 'ndjson',
      events: this.#events(),
      key: this.#session.credential,
      isLive: true,
      close: () => this.close()
    } as const
    const { streams } = this.#session.deps
    const frames = streams.relay(this.#exchange, source, this.#stream)
    try {
      for (;;) {
        const { done, value } = await frames.next()
        this.#isSending = true
        await sendLines(this.#session, value)
        this.#isSending = false
        if (done) return
      }
    } finally {
      this.close()
      void frames.return('').catch(() => {})
    }
  }
}

/** Events, each in a line of its own. */
export async function sendLines({ client }: Session, text: string): Promise<void> {
  for (const line of text.split('\n')) if (line !== '') await client.send(line)
}

/**
 * Judges an event of the upstream that belongs to no response: the state of the session, of an item, of a buffer; an
 * error.
 * @returns the event, or the error that replaces it
 */
export async function judgeSingle(
  { answers, streams }: { answers: Answers; streams: Streams },
  nextId: () => string,
  exchange: Exchange,
  line: string
): Promise<string> {
  const { route } = exchange
  const stream = new HeldStream(new RealtimeStreamShape('one', nextId))
  stream.started = true
  stream.push({ data: line })
  if (route.output === 'off' || route.mode === 'observe') {
    if (route.output !== 'off') await answers.verdictOf(exchange, stream.content())
    return stream.release(undefined, []).frames
  }
  return (await streams.settle(exchange, stream, undefined)).text
}
