/** The act on content other than text, by its kind. */
import type { Media } from './chat.js'

export const unscannableActs = ['deny', 'review', 'permit', 'scan'] as const
/** `scan`: files, text in pictures, and sound where it can be transcribed, are read; what cannot be read whole is denied. */
export type UnscannableAct = (typeof unscannableActs)[number]

export const mediaKinds = ['image', 'audio', 'video', 'file', 'tokens'] as const satisfies readonly Media['kind'][]

/** One act for all kinds, or one for each; a kind that is not named is denied. */
export type Unscannable = UnscannableAct | Readonly<Partial<Record<Media['kind'], UnscannableAct>>>

const read: ReadonlySet<Media['kind']> = new Set(['file', 'image', 'audio'])

/** The act for a kind: `scan` reads files, text in pictures and sound, and denies every other kind. */
export function actFor(unscannable: Unscannable, kind: Media['kind']): UnscannableAct {
  const act = typeof unscannable === 'string' ? unscannable : (unscannable[kind] ?? 'deny')
  return act === 'scan' && !read.has(kind) ? 'deny' : act
}

/** The strictest act over several media that stay unread. */
export function strictestAct(unscannable: Unscannable, media: readonly Media[]): 'deny' | 'review' | 'permit' {
  const acts = media.map(({ kind, isTextRead }) => (isTextRead === true ? 'permit' : actFor(unscannable, kind)))
  if (acts.some((act) => act === 'deny' || act === 'scan')) return 'deny'
  return acts.includes('review') ? 'review' : 'permit'
}

/**
 * The name of unjudged content in receipts, audit and metrics: its kind, or for a picture with read text, the rest.
 * @returns undefined for a picture that a judge has seen
 */
export function unjudgedIn({ kind, isTextRead, isSeen }: Media): string | undefined {
  if (isSeen === true) return undefined
  return isTextRead === true ? 'image_content' : kind
}
