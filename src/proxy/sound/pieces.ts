/**
 * Cuts running sound into pieces for transcription: at pauses, and without a pause for long, at the quietest place. A
 * word that a cut may have split is transcribed again with the next piece.
 */
import { type SoundFormat, sampleAt, sampleBytes } from '../../dialects/sound.js'

/** Length of a frame, the unit of which loudness is measured, ms. */
const frameMs = 20
/** Root of the mean square, of 32,768: -47 dB. Speech is never quieter. */
const floor = 150
/** A pause, or background noise, is this much quieter than the loudest frame of the piece: 20 dB. */
const pauseShare = 0.1
/** The shortest pause at which servers regard a turn as ended, ms. */
const pauseMs = 200
/** Longest piece without a pause, ms; the cut is at the quietest frame of its last part. */
const longestMs = 10_000
const endMs = 2000
/**
 * First piece of background noise after a pause, ms; each next one is twice as long: a server waits for it to detect
 * silence.
 */
const shortestRoomMs = 400
/**
 * Sound that is transcribed again with the next piece, ms: the end of a cut piece; short pieces of a word's length as a
 * whole.
 */
const againMs = 1000
const wordMs = 1000
const mostWordsMs = 3000

export interface Piece {
  bytes: Buffer
  /** Quieter than any speech. */
  isSilent: boolean
  /** Sound that was judged already and may hold the beginning of its first word. */
  again: Buffer
}

const nothing: Buffer = Buffer.alloc(0)

export class SoundPieces {
  readonly #format: SoundFormat
  readonly #frameBytes: number
  /** Sound of the unfinished piece, in a growing buffer. */
  #buffer = nothing
  #length = 0
  /** The loudness of its whole frames. */
  #levels: number[] = []
  #loudest = 0
  #quiet = 0
  #again = nothing
  /** Loudness of the last piece that ended with a pause. */
  #spoken = 0
  #roomMs = shortestRoomMs

  constructor(format: SoundFormat) {
    this.#format = format
    this.#frameBytes = Math.round((format.rate * frameMs) / 1000) * sampleBytes(format)
  }

  /**
   * Yields the pieces that these bytes complete, each before the next one is searched. Callers must take all of them.
   */
  *add(bytes: Buffer): Generator<Piece, void, undefined> {
    // In steps of one frame at most: a piece ends with a frame.
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + this.#frameBytes - (this.#length % this.#frameBytes))
      this.#put(bytes.subarray(at, end))
      at = end
      if (this.#length % this.#frameBytes !== 0) break
      this.#frame()
      const frames = this.#framesOfPiece()
      if (frames > 0) yield this.#take(frames)
    }
    // Silence is never held.
    if (this.#levels.length > 0 && this.#loudest < floor) yield this.#take(this.#levels.length)
  }

  /** The last piece was refused: none of it is transcribed again. */
  refused(): void {
    this.#again = nothing
  }

  /** The rest, up to its last whole sample, at the end of a turn. */
  flush(): Piece | undefined {
    const length = this.#length - (this.#length % sampleBytes(this.#format))
    const rest = this.#buffer.subarray(this.#levels.length * this.#frameBytes, length)
    if (rest.length > 0) this.#loudest = Math.max(this.#loudest, this.#levelOf(rest))
    const piece = { bytes: this.#copy(0, length), isSilent: this.#loudest < floor, again: this.#again }
    this.#keepFrom(length)
    this.#again = nothing
    return length === 0 ? undefined : piece
  }

  /** Discards the held sound. */
  drop(): void {
    this.#keepFrom(this.#length)
    this.#again = nothing
  }

  #put(bytes: Buffer): void {
    const length = this.#length + bytes.length
    if (length > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(length * 2)
      this.#buffer.copy(grown, 0, 0, this.#length)
      this.#buffer = grown
    }
    bytes.copy(this.#buffer, this.#length)
    this.#length = length
  }

  /** The buffer is written over. */
  #copy(from: number, to: number): Buffer {
    return Buffer.from(this.#buffer.subarray(from, to))
  }

  #frame(): void {
    const level = this.#levelOf(this.#buffer.subarray(this.#length - this.#frameBytes, this.#length))
    this.#levels.push(level)
    this.#loudest = Math.max(this.#loudest, level)
    this.#quiet = level < Math.max(floor, this.#loudest * pauseShare) ? this.#quiet + 1 : 0
  }

  #levelOf(bytes: Buffer): number {
    const size = sampleBytes(this.#format)
    let sum = 0
    for (let at = 0; at < bytes.length; at += size) sum += sampleAt(bytes, at, this.#format) ** 2
    return Math.sqrt((sum * size) / bytes.length)
  }

  get #hasPaused(): boolean {
    return this.#quiet * frameMs >= pauseMs
  }

  /** Whether it holds only background noise, compared with the last speech. */
  get #isRoom(): boolean {
    return this.#loudest < this.#spoken * pauseShare
  }

  /** 0 while it goes on. */
  #framesOfPiece(): number {
    const count = this.#levels.length
    if (this.#loudest < floor) return 0
    if (this.#hasPaused) return count
    if (this.#isRoom && count * frameMs >= this.#roomMs) return count
    if (count * frameMs < longestMs) return 0
    let quietest = count - 1
    for (let i = count - endMs / frameMs; i < count; i++) if (this.#levels[i]! < this.#levels[quietest]!) quietest = i
    return quietest + 1
  }

  #take(frames: number): Piece {
    const length = frames * this.#frameBytes
    const piece: Piece = {
      bytes: this.#copy(0, length),
      isSilent: this.#loudest < floor,
      again: this.#again
    }
    if (!piece.isSilent) {
      this.#again = this.#hasPaused ? this.#words(piece) : piece.bytes.subarray(-this.#bytesOf(againMs))
      if (this.#isRoom) this.#roomMs = Math.min(longestMs, this.#roomMs * 2)
      else if (this.#hasPaused) {
        this.#spoken = this.#loudest
        this.#roomMs = shortestRoomMs
      }
    }
    const levels = this.#levels.slice(frames)
    this.#keepFrom(length)
    this.#levels = levels
    this.#loudest = Math.max(0, ...levels)
    return piece
  }

  /** Joins short pieces, so that speech syllable by syllable is transcribed as a whole. */
  #words({ bytes, again }: Piece): Buffer {
    if (bytes.length > this.#bytesOf(wordMs + pauseMs)) return nothing
    return Buffer.concat([again, bytes]).subarray(-this.#bytesOf(mostWordsMs))
  }

  #bytesOf(ms: number): number {
    return Math.round(ms / frameMs) * this.#frameBytes
  }

  #keepFrom(at: number): void {
    this.#buffer.copy(this.#buffer, 0, at, this.#length)
    this.#length -= at
    this.#levels = []
    this.#loudest = 0
    this.#quiet = 0
  }
}
