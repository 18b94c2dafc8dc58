/**
 * Streams answers of any length page by page: a page is read only when the last one was sent, so that a slow reader
 * keeps at most one in memory, and the event loop serves other requests in between.
 */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { turn } from '../storage/sql/steps.js'

/** Rows of a page: a millisecond or two of work, and about 50 KB. */
const rowsPerPage = 100

export const json = 'application/json; charset=utf-8'

/** @param read the rows after an exclusive one, at most so many; fewer rows mean the last page */
export async function* pagesOf<Row>(
  read: (after: Row | undefined, limit: number) => Promise<readonly Row[]>
): AsyncGenerator<readonly Row[], void> {
  for (let after: Row | undefined; ; ) {
    const rows = await read(after, rowsPerPage)
    if (rows.length > 0) yield rows
    if (rows.length < rowsPerPage) return
    after = rows.at(-1)
    await turn()
  }
}

/** The same for a list that names its own next page. @param read the page from a cursor on */
export async function* listOf<Row>(
  read: (page: {
    cursor: string | undefined
    limit: number
  }) => Promise<{ rows: readonly Row[]; next: string | undefined }>,
  from?: string
): AsyncGenerator<readonly Row[], void> {
  for (let cursor = from; ; ) {
    const { rows, next } = await read({ cursor, limit: rowsPerPage })
    yield rows
    if (next === undefined) return
    cursor = next
    await turn()
  }
}

/**
 * Sends texts as they come. Headers wait for the first text, so that a storage failure is an error instead of a
 * truncated answer. A later failure breaks the connection.
 */
export async function sendTexts(reply: FastifyReply, texts: AsyncGenerator<string, void>): Promise<FastifyReply> {
  const first = await texts.next()
  return reply.send(Readable.from(joined(first, texts), { objectMode: false }))
}

async function* joined(first: IteratorResult<string, void>, rest: AsyncGenerator<string, void>) {
  if (first.done === true) return
  yield first.value
  yield* rest
}

/**
 * A JSON object with one member that is an array in pages.
 * @param end the members after it, known when the last page is
 */
export async function* objectText(
  before: Readonly<Record<string, unknown>>,
  name: string,
  pages: AsyncIterable<readonly unknown[]>,
  end: () => Readonly<Record<string, unknown>> = () => ({})
): AsyncGenerator<string, void> {
  let text = `{${membersOf(before).join('')}${JSON.stringify(name)}:[`
  let isFirst = true
  for await (const rows of pages) {
    if (rows.length === 0) continue
    yield `${text}${isFirst ? '' : ','}${rows.map((row) => JSON.stringify(row)).join(',')}`
    text = ''
    isFirst = false
  }
  yield `${text}]${membersOf(end())
    .map((member) => `,${member.slice(0, -1)}`)
    .join('')}}`
}

/** Each followed by a comma. */
function membersOf(members: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(members).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)},`)
}
