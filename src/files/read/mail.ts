/** Reads e-mail (RFC 5322, MIME): its headers, its texts, and its attachments, each by its own reader. */
import PostalMime, { type Attachment } from 'postal-mime'
import { bounds, type FileInput, type Texts, Unread } from '../file.js'
import { addPage } from './html.js'
import { decode, refuseMedia } from './text.js'

/** Reads a file within this one into texts of its own. */
export type ReadWithin = (input: FileInput, depth: number) => Promise<Texts>

const locked = /^(?:multipart\/encrypted|application\/(?:x-)?pkcs7-mime|application\/pgp-encrypted)/i

/** @throws Unread */
export async function readMail(input: FileInput, out: Texts, depth: number, within: ReadWithin): Promise<void> {
  const source = decode({ bytes: input.bytes, charset: input.charset ?? 'latin1' }).text
  if (!/^[\x21-\x39\x3b-\x7e]+:/.test(source)) throw new Unread('type_mismatch')
  const mail = await parse(input.bytes)
  out.add(mail.headers.map(({ key, value }) => `${key}: ${value}`).join('\n'), 'part=head', 'header')
  out.add(mail.subject ?? '', 'part=subject')
  if (mail.text !== undefined) {
    refuseMedia(mail.text)
    out.add(mail.text, 'part=body')
  }
  if (mail.html !== undefined) {
    out.add(mail.html, 'part=html', 'source')
    addPage(mail.html, 'part=html', out)
  }
  // Text between and behind the parts, and anything else that a parser does not assign to one.
  out.add(withoutRead(source, mail), 'part=source', 'source')
  if (mail.attachments.length > bounds.attachments) throw new Unread('too_large')
  for (const [i, attachment] of mail.attachments.entries()) {
    out.take(await within(inputOf(attachment), depth + 1), `attachment=${i + 1}`)
  }
}

type Mail = Awaited<ReturnType<typeof PostalMime.parse>>

async function parse(bytes: Buffer): Promise<Mail> {
  try {
    const mail = await PostalMime.parse(bytes, {
      attachmentEncoding: 'arraybuffer',
      forceRfc822Attachments: true,
      maxNestingDepth: 32,
      maxHeadersSize: 1024 * 1024
    })
    for (const { key, value } of mail.headers) {
      if (key === 'content-type' && locked.test(value)) throw new Unread('encrypted')
    }
    return mail
  } catch (error) {
    throw error instanceof Unread ? error : new Unread('damaged')
  }
}

const bytesOf = (content: Attachment['content']) =>
  typeof content === 'string' ? Buffer.from(content) : Buffer.from(content as ArrayBuffer)

function inputOf({ content, mimeType, filename }: Attachment): FileInput {
  const bytes = bytesOf(content)
  const [type = ''] = mimeType.toLowerCase().split(';', 1)
  if (locked.test(type)) throw new Unread('encrypted')
  return { bytes, type: type.trim(), name: filename ?? '' }
}

/** Removes base64 lines whose decoded content was read, or that belong to a nested message. */
function withoutRead(source: string, mail: Mail): string {
  const texts = [mail.text ?? '', mail.html ?? ''].map((text) => text.replace(/\r/g, ''))
  const files = mail.attachments.map(({ content }) => bytesOf(content))
  const isRead = (run: readonly string[]) => {
    const bytes = Buffer.from(run.join(''), 'base64')
    const text = bytes.toString().replace(/\r/g, '')
    if (texts.some((each) => each.includes(text))) return true
    return files.some((each) => [bytes, run.join('\r\n'), run.join('\n')].some((form) => each.includes(form)))
  }
  const kept: string[] = []
  let run: string[] = []
  const end = () => {
    if (run.length > 0 && !isRead(run)) for (const line of run) kept.push(line)
    run = []
  }
  for (const line of source.split(/\r?\n/)) {
    if (/^[A-Za-z0-9+/]{56,}={0,2}$/.test(line)) {
      run.push(line)
      continue
    }
    // The last line of a run is shorter.
    if (run.length > 0 && /^[A-Za-z0-9+/]{1,75}={0,2}$/.test(line)) run.push(line)
    else {
      end()
      kept.push(line)
      continue
    }
    end()
  }
  end()
  return kept.join('\n')
}
