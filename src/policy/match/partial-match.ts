/**
 * Finds the start of a pattern's unfinished match: runs the automaton of the linear-time engine to the end of an
 * unfinished text. Only threads that are alive there can still become a match.
 */
import type { RE2JS } from 're2js'

/** The engine's instructions, as `re2js` numbers them (`Inst`). */
const ALT = 1
const ALT_MATCH = 2
const CAPTURE = 3
const EMPTY_WIDTH = 4
const FAIL = 5
const MATCH = 6
const NOP = 7
const RUNE = 8
const RUNE1 = 9
const RUNE_ANY = 10
const RUNE_ANY_NOT_NL = 11

interface Instruction {
  op: number
  out: number
  arg: number
  runes: ArrayLike<number>
  matchRune(rune: number): boolean
}

/** One bit for each ASCII character. */
const masks = 4

export class PartialMatch {
  /** The instructions that read a character. */
  readonly #readers: readonly Instruction[]
  /** For each reader its possible successors. */
  readonly #next: readonly Int32Array[]
  readonly #first: Int32Array
  readonly #ascii: Uint32Array
  /** The first characters of possible matches. */
  readonly #firstAscii = new Uint32Array(masks)
  /** Readers that are alive, with where each began, in that order; and those after the next character. */
  #alive: Int32Array
  #began: Int32Array
  #then: Int32Array
  #thenBegan: Int32Array
  readonly #seen: Float64Array
  #step = 0

  private constructor(instructions: readonly Instruction[], start: number) {
    const numbers = new Map<number, number>()
    const readers: Instruction[] = []
    for (const [pc, instruction] of instructions.entries()) {
      if (instruction.op >= RUNE) numbers.set(pc, readers.push(instruction) - 1)
    }
    const after = (pc: number) => Int32Array.from(readersFrom(instructions, pc), (each) => numbers.get(each)!)
    this.#readers = readers
    this.#next = readers.map(({ out }) => after(out))
    this.#first = after(start)
    this.#ascii = new Uint32Array(readers.length * masks)
    for (const [i, reader] of readers.entries()) {
      for (let code = 0; code < 128; code++) {
        if (reads(reader, code)) this.#ascii[i * masks + (code >> 5)]! |= 1 << (code & 31)
      }
    }
    for (const each of this.#first) {
      for (let i = 0; i < masks; i++) this.#firstAscii[i]! |= this.#ascii[each * masks + i]!
    }
    this.#alive = new Int32Array(readers.length)
    this.#began = new Int32Array(readers.length)
    this.#then = new Int32Array(readers.length)
    this.#thenBegan = new Int32Array(readers.length)
    this.#seen = new Float64Array(readers.length)
  }

  /** @returns undefined where the pattern uses syntax that is not supported here (look-behind) */
  static of(regex: RE2JS): PartialMatch | undefined {
    const { inst, start } = regex.re2().prog as { inst: readonly Instruction[]; start: number }
    return inst.every(({ op }) => op >= ALT && op <= RUNE_ANY_NOT_NL) ? new PartialMatch(inst, start) : undefined
  }

  /**
   * The earliest start of a match that may continue beyond the text, or the text's length where there is none.
   * Assertions (`\b`, `^`) count as true, since neither the next characters nor the start of the engine's input is
   * known.
   */
  from(text: string): number {
    const { length } = text
    let count = 0
    for (let i = 0; i < length; i++) {
      let code = text.charCodeAt(i)
      const at = i
      if (code >= 0xd800 && code < 0xdc00 && i + 1 < length) {
        code = text.codePointAt(i)!
        if (code > 0xffff) i++
      }
      if (count === 0 && code < 128 && ((this.#firstAscii[code >> 5]! >>> (code & 31)) & 1) === 0) continue
      count = this.#read(code, at, count)
    }
    return count === 0 ? length : this.#began[0]!
  }

  /** Advances by one character. Readers are sorted by their start, so that each keeps its earliest one. */
  #read(code: number, at: number, count: number): number {
    const step = ++this.#step
    let after = 0
    for (let k = 0; k < count; k++) after = this.#advance(this.#alive[k]!, code, this.#began[k]!, step, after)
    for (const each of this.#first) after = this.#advance(each, code, at, step, after)
    const alive = this.#alive
    const began = this.#began
    this.#alive = this.#then
    this.#began = this.#thenBegan
    this.#then = alive
    this.#thenBegan = began
    return after
  }

  #advance(reader: number, code: number, began: number, step: number, after: number): number {
    const accepts =
      code < 128
        ? ((this.#ascii[reader * masks + (code >> 5)]! >>> (code & 31)) & 1) !== 0
        : reads(this.#readers[reader]!, code)
    if (!accepts) return after
    const next = this.#next[reader]!
    let count = after
    for (let i = 0; i < next.length; i++) {
      const each = next[i]!
      if (this.#seen[each] === step) continue
      this.#seen[each] = step
      this.#then[count] = each
      this.#thenBegan[count++] = began
    }
    return count
  }
}

function reads(instruction: Instruction, code: number): boolean {
  switch (instruction.op) {
    case RUNE1:
      return instruction.runes[0] === code
    case RUNE_ANY:
      return true
    case RUNE_ANY_NOT_NL:
      return code !== 10
    default:
      return instruction.matchRune(code)
  }
}

/** The instructions that read a character and are reached from one without reading any. */
function readersFrom(instructions: readonly Instruction[], start: number): number[] {
  const found: number[] = []
  const seen = new Set<number>()
  const open = [start]
  for (let pc = open.pop(); pc !== undefined; pc = open.pop()) {
    if (seen.has(pc)) continue
    seen.add(pc)
    const { op, out, arg } = instructions[pc]!
    if (op >= RUNE) found.push(pc)
    else if (op === ALT || op === ALT_MATCH) open.push(arg, out)
    else if (op === CAPTURE || op === EMPTY_WIDTH || op === NOP) open.push(out)
    else if (op !== FAIL && op !== MATCH) throw new Error(`unknown instruction ${op}`)
  }
  return found
}
