/** Types of a chat, as every dialect passes it to the evaluator. Types only: no dialect, no policy, no network. */

/** A JSON value as the strict reader returns it (`json/parse.ts`); objects have `Object.prototype` and own keys only. */
export type Json = null | boolean | number | string | Json[] | JsonObject
export interface JsonObject {
  [key: string]: Json
}

/**
 * The role of a text's speaker. `developer` counts as `system`; `tool` is a tool's result or any retrieved text;
 * `definition` is a tool definition or an output schema; `parameter` is every other string leaf or key of the body
 * (model name, metadata, stop strings, unknown fields).
 */
export const roles = ['system', 'user', 'assistant', 'tool', 'definition', 'parameter'] as const
export type Role = (typeof roles)[number]

/** One string leaf, or one key, of a request or answer. */
export interface ChatPart {
  role: Role
  text: string
  /** RFC 6901 pointer of the leaf in the body; for a key, the pointer of its value. */
  pointer: string
  /** Set where the text is an object's key, not a value: a redaction renames it. */
  isKey?: true
  /** Set for the decoded text of a leaf (a `data:` URL), whose spans cannot be rewritten in the leaf. */
  isDecoded?: true
  /**
   * Set where the text was read out of a file: `writable` where it is all of the file, and can be written back; `heard`
   * where it is what somebody says in a sound.
   */
  file?: 'writable' | 'read' | 'heard'
}

/**
 * Suffix on the pointer of a leaf's decoded text, to distinguish its findings from those in the leaf. It never leaves
 * this process.
 */
export const decodedMark = '#decoded'

/** The bytes of a picture whose text was read, for judges that see. */
export interface Picture {
  /** RFC 6901 pointer of the part that holds it. */
  pointer: string
  role: Role
  /** By its first bytes: `image/png` and the like. */
  type: string
  /** Base64. */
  data: string
}

/** A part that holds no text to judge: image, audio, file, or a text as the numbers of some model's tokens. */
export interface Media {
  pointer: string
  kind: 'image' | 'audio' | 'video' | 'file' | 'tokens'
  /** Role of its sender, where the dialect knows it. */
  role?: Role
  /** Set where its text was read and judged, but not the rest of its pictures. */
  isTextRead?: true
  /** With `isTextRead`, of a picture that stands by itself. */
  picture?: Picture
  /** Set where a judge has seen it. */
  isSeen?: true
}

export interface ChatContent {
  parts: ChatPart[]
  /** Runs of indexes into `parts` whose texts a model reads as one (the parts of one message, turns in a row): judged joined too. */
  joined: number[][]
  media: Media[]
}

export interface ChatRequest extends ChatContent {
  stream: boolean
  model: string | undefined
  /** The dialect's own metadata object, the source of context where no header gives one. */
  metadata: JsonObject | undefined
  /** The dialect's own conversation field. */
  session: string | undefined
  /** For a tool call: index of the first part with a model's words. */
  calledFrom?: number
  /** The id of the answer that it continues; the API has stored the earlier turns. */
  after?: string
  /** Set where the API stores the exchange, so that a later request may continue from its answer. */
  isKept?: true
  /** Media that its answer will contain; permitted only where the route would let them out. */
  brings?: Brought
}

export interface Brought {
  kind: Media['kind']
  /** Set where the request wants an address instead of the bytes. */
  isAddress?: true
}

export interface ChatReply extends ChatContent {
  /** The id that a later request may name as `ChatRequest.after`. */
  id?: string
}

/** The part of a request that is in its target instead of its body. */
export interface Target {
  /** Values of the path's parameters; each matched its pattern. */
  params: Readonly<Record<string, string>>
  /** The query string with its question mark, checked against the route's own, or empty. */
  query: string
}

/** The form of a model's name. Clients and upstreams choose it: other text is neither recorded nor shown. */
export const modelForm = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}$/
