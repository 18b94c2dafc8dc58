/** A constitution that is refused, and why. Apart from what reads one, so that who only tells of it need not load that. */

export interface Problem {
  /** 1-based. */
  line: number
  column: number
  /** `rules[3].weight`; empty for the document as a whole. */
  path: string
  message: string
  /** What may stand there, where that is a closed set. */
  accepted?: readonly string[]
}

/** A constitution that cannot be put in force. `message` lists every problem, one a line, as `file:line:column path: reason`. */
export class ConstitutionError extends Error {
  readonly file: string
  readonly problems: readonly Problem[]

  constructor(file: string, problems: readonly Problem[]) {
    const lines = problems.map((p) => `${file}:${p.line}:${p.column} ${p.path === '' ? '' : `${p.path}: `}${p.message}`)
    super(`The constitution is not valid.\n${lines.join('\n')}`)
    this.name = 'ConstitutionError'
    this.file = file
    this.problems = problems
  }
}
