/**
 * Names in the OpenAPI document. A schema with a name stands once among the document's components, and everything else
 * refers to it, so that clients made from the document have one type for one thing.
 */

type Schema = Record<string, unknown>
interface Components {
  schemas?: Record<string, Schema>
  headers?: Record<string, object>
}

const schemasPath = '#/components/schemas/'
const validName = /^[A-Z][A-Za-z0-9]*$/

/** Gives a schema its name. It stands as the schema's `title`, which every validator passes over. */
export function named<T extends object>(name: string, schema: T): T {
  if (!validName.test(name)) throw new Error(`${name} is no name of a schema: a capital, then letters and digits.`)
  return Object.assign(schema, { title: name })
}

/** The same for several. */
export function nameSchemas(schemas: Readonly<Record<string, object>>): void {
  for (const [name, schema] of Object.entries(schemas)) named(name, schema)
}

/**
 * Moves every named schema of a document to its components, has headers refer to theirs, and adds to every closed set
 * the type of its values, which client generators require.
 * @param document is changed in place
 * @throws Error where two different schemas have one name
 */
export function finishDocument<T extends { components?: unknown; paths?: unknown }>(document: T): T {
  const components = (document.components ?? {}) as Components
  const schemas: Record<string, Schema> = { ...components.schemas }
  const texts = new Map<string, string>()
  const usedHeaders = new Set<string>()

  function visit(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(visit)
    if (typeof value !== 'object' || value === null) return value
    const given = value as Schema
    const seen: Schema = {}
    // Examples hold values, not schemas.
    for (const [key, member] of Object.entries(given)) {
      seen[key] = key === 'example' || key === 'examples' ? member : visit(member)
    }
    addType(seen)
    const component = (seen.schema as { component?: unknown } | undefined)?.component
    if (typeof component === 'string') {
      usedHeaders.add(component)
      return { $ref: `#/components/headers/${component}` }
    }
    const { title, description } = seen
    if (typeof title !== 'string' || !validName.test(title)) return seen
    return refer(title, seen, description)
  }

  /** Where a schema is used, a description may say what it is for there; the first one stays with the schema. */
  function refer(name: string, schema: Schema, description: unknown): Schema {
    const { title: _, description: __, ...rest } = schema
    const text = JSON.stringify(rest)
    const known = texts.get(name)
    if (known === undefined) {
      texts.set(name, text)
      schemas[name] = description === undefined ? rest : { description, ...rest }
      return { $ref: schemasPath + name }
    }
    if (known !== text) throw new Error(`Two schemas of the OpenAPI document are named ${name}.`)
    return description === undefined || description === schemas[name]!.description
      ? { $ref: schemasPath + name }
      : { $ref: schemasPath + name, description }
  }

  document.paths = visit(document.paths)
  const sorted = Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))
  const headers = Object.entries(components.headers ?? {}).filter(([name]) => usedHeaders.has(name))
  document.components = { ...components, headers: Object.fromEntries(headers), schemas: Object.fromEntries(sorted) }
  return document
}

const jsonTypes: Readonly<Record<string, string>> = { string: 'string', boolean: 'boolean', number: 'number' }

function addType(schema: Schema): void {
  if (schema.type !== undefined) return
  const values = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : []
  const types = new Set(values.map((value) => jsonTypes[typeof value]))
  const [type] = types
  // A member of an object may be called `enum` or `const`: then its value is a schema.
  if (types.size === 1 && type !== undefined) schema.type = type
}
