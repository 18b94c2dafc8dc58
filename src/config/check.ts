/** Validates a parsed file against the schema of `schema.ts`, and describes every mismatch in a sentence. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { ownSchemas } from '../json/own-schemas.js'
import { FileSchema } from './schema.js'
import { formats } from './values.js'

/** One mismatch, with its path of keys and indexes. */
export interface SchemaProblem {
  path: (string | number)[]
  /** True where the key itself is the mistake. */
  atKey: boolean
  reason: string
}

/** Compiled when it is first needed: it takes longer than all else of a reload. */
let validator: ValidateFunction | undefined

/**
 * Checks a parsed file against the schema; every problem, in the order of the schema. A text in place of a number or
 * boolean is converted in `value`, since variables and quoted YAML values are texts.
 */
export function checkFile(value: unknown): SchemaProblem[] {
  validator ??= new Ajv({ ...ownSchemas, allErrors: true, verbose: true, strict: false, formats }).compile(FileSchema)
  const validate = validator
  if (validate(value)) return []
  const misread = (validate.errors ?? []).filter(({ keyword }) => keyword === 'type')
  const errors =
    misread.map((error) => reread(value, error)).includes(true) && validate(value) ? [] : (validate.errors ?? [])
  return telling(errors).map((error) => {
    const path = steps(error.instancePath, value)
    const accepts = (error.parentSchema as { accepts?: string }).accepts
    switch (error.keyword) {
      case 'additionalProperties': {
        const known = Object.keys((error.parentSchema as { properties?: object }).properties ?? {})
        const key = String(error.params['additionalProperty'])
        return { path: [...path, key], atKey: true, reason: `unknown key (${accepts ?? known.join(', ')})` }
      }
      case 'required':
        return { path: [...path, String(error.params['missingProperty'])], atKey: false, reason: 'is missing' }
      default: {
        const fault = error.keyword === 'type' ? `must be ${article(error.params['type'])}` : 'is not valid'
        return { path, atKey: false, reason: accepts === undefined ? fault : `${fault} (${accepts})` }
      }
    }
  })
}

/**
 * Where a key takes a word or a mapping and a mapping was given, the errors inside it; else the list of accepted values,
 * beside which errors of single `anyOf` alternatives are noise.
 */
function telling(errors: readonly ErrorObject[]): ErrorObject[] {
  const meant = errors.flatMap((error) => {
    const { keyword, data, schema, schemaPath, instancePath } = error
    if (keyword !== 'anyOf' || typeof data !== 'object' || data === null || Array.isArray(data)) return []
    const mapping = (schema as { type?: unknown }[]).findIndex(({ type }) => type === 'object')
    const inside = errors.filter(
      (one) =>
        one.schemaPath.startsWith(`${schemaPath}/${mapping}/`) && `${one.instancePath}/`.startsWith(`${instancePath}/`)
    )
    return inside.length === 0 ? [] : [{ error, inside }]
  })
  return errors.filter((error) => {
    if (meant.some(({ inside }) => inside.includes(error))) return true
    return !error.schemaPath.includes('/anyOf/') && !meant.some((one) => one.error === error)
  })
}

/** Sections that refer to each other: if one is dropped as a whole, checks of the others are meaningless. */
const related = ['upstreams', 'routes', 'defaults', 'judges', 'constitutions', 'encoder']

/** Fields that identify a route: if one of them is faulty, the rest cannot be checked. */
const tellsApart = ['path', 'dialect', 'match', 'upstream_path']

/**
 * Removes mismatches from a file, so that the rest can still be checked. Names that others refer to stay, and so do the
 * indexes of routes: a dropped route is a hole in the list.
 * @returns also whether referenced sections were dropped as a whole
 */
export function withoutFaults(value: unknown, faults: readonly SchemaProblem[]): { value: unknown; isCut: boolean } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { value: {}, isCut: true }
  const left = structuredClone(value) as Record<string, unknown>
  const isCut = faults.some(({ path }) => path.length === 1 && related.includes(String(path[0])))
  for (const { path } of faults) leaveOut(left, path.map(String))
  if (isCut) for (const section of related) delete left[section]
  return { value: left, isCut }
}

function leaveOut(left: Record<string, unknown>, [section = '', name, key]: string[]): void {
  const inner = left[section] as Record<string, unknown> | null | undefined
  if (name === undefined || typeof inner !== 'object' || inner === null) {
    delete left[section]
    return
  }
  const one = inner[name] as Record<string, unknown> | null | undefined
  const isWhole = typeof one === 'object' && one !== null && key !== undefined
  if (section === 'upstreams') {
    if (isWhole) delete one[key]
    else inner[name] = {}
  } else if (section === 'constitutions') inner[name] = ''
  else if (section === 'routes' && isWhole && !tellsApart.includes(key)) delete one[key]
  else delete inner[name]
}

function article(type: unknown): string {
  const names: Record<string, string> = {
    object: 'a mapping',
    array: 'a list',
    integer: 'a whole number',
    string: 'a text',
    boolean: 'true or false'
  }
  return [type]
    .flat()
    .map((name) => names[String(name)] ?? String(name))
    .join(' or ')
}

/** Replaces a text by the number or boolean that it spells, where that is what the schema asks for. */
function reread(root: unknown, { instancePath, params, data }: ErrorObject): boolean {
  if (typeof data !== 'string') return false
  const isBoolean = params['type'] === 'boolean' && /^(?:true|false)$/.test(data)
  const isWhole = params['type'] === 'integer' && /^-?(?:0|[1-9]\d{0,14})$/.test(data)
  if (!isBoolean && !isWhole) return false
  const path = steps(instancePath, root)
  const last = path.pop() as string | number
  const parent = path.reduce((at, step) => (at as Record<string | number, unknown>)[step], root)
  ;(parent as Record<string | number, unknown>)[last] = isBoolean ? data === 'true' : Number(data)
  return true
}

/** A JSON pointer as keys and, where it leads into a list, indexes. */
function steps(pointer: string, root: unknown): (string | number)[] {
  let at = root
  return pointer
    .split('/')
    .slice(1)
    .map((token) => {
      const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
      const step = Array.isArray(at) ? Number(name) : name
      at = (at as Record<string, unknown>)[name]
      return step
    })
}
