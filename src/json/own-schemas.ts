/**
 * Options of Ajv for schemas that are the program's own. They are checked by types and tests, so no schema of schemas is
 * compiled to check them at every start, nor is the code that they compile to optimised: both take longer than they save.
 */
export const ownSchemas = { meta: false, validateSchema: false, code: { optimize: false } } as const
