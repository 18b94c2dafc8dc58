/** Converts problems of a constitution to a fault for the caller. */
import { Fault } from '../base/errors.js'
import { ConstitutionError } from '../policy/constitution/problems.js'

/** Most reported problems: a file of another kind has one in every line. */
const maxProblems = 100

/** A 400 with every problem and its place; any other error as it is. @param field where the text was given */
export function notFit(error: unknown, field: string): unknown {
  if (!(error instanceof ConstitutionError)) return error
  const { problems } = error
  const [first] = problems
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  const place =
    first === undefined
      ? ''
      : `: line ${first.line}, column ${first.column}${first.path === '' ? '' : `, ${first.path}`} ${first.message}${more}`
  return new Fault('validation_error', {
    message: `The constitution is not valid${place}.`,
    fields: { details: { field, reason: 'invalid_format' }, problems: problems.slice(0, maxProblems) },
    cause: error
  })
}
