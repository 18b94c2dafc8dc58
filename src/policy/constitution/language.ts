/**
 * Data for an editor of constitutions: the schemas with the meaning of each word, the allowed names, the shipped
 * constitutions with their examples, and the measured effect of each band edge.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { audiences, occasions, placesOf } from '../../base/texts.js'
import { detectors } from '../../detectors/index.js'
import { categories, detectionTypes } from '../evaluation.js'
import { fieldsOf, valuesOf } from './gone.js'
import { bases, ConstitutionSource, ExtensionSource } from './schema.js'
import { readList, shippedFormats, shippedLists } from './shipped.js'
import { ruleRoles } from './values.js'

const config = new URL('../../../config/', import.meta.url)

/** The decision of a shipped constitution over one text; the tests check it. */
export interface ShippedExample {
  text: string
  decision: string
  context?: Record<string, string>
  role?: string
  because?: string
}

export interface Language {
  /** JSON Schemas of a whole constitution and of an overlay. */
  schemas: { whole: object; overlay: object }
  bases: readonly string[]
  categories: readonly string[]
  types: readonly string[]
  roles: readonly string[]
  detectors: { name: string; kinds: readonly string[]; groups: readonly string[] }[]
  lists: { name: string; lexicons: string[]; about: string }[]
  formats: string[]
  shipped: { name: string; description: string; source: string; examples: ShippedExample[] }[]
  /** `config/models/points.json`: how many measured texts reach which score. Null where it is not installed. */
  points: object | null
}

let known: Language | undefined

/** Read once: nothing of it changes while the program runs. */
export function language(): Language {
  known ??= {
    schemas: { whole: forEditors(ConstitutionSource), overlay: forEditors(ExtensionSource) },
    bases,
    categories,
    types: detectionTypes,
    roles: ruleRoles,
    detectors: detectors.map(({ id, kinds, groups }) => ({ name: id, kinds, groups: [...(groups?.keys() ?? [])] })),
    lists: shippedLists().map((name) => ({
      name,
      lexicons: Object.keys(readList(name).lexicons ?? {}),
      about: headOf(`constitutions/lists/${name}.yaml`)
    })),
    formats: [...shippedFormats().keys()],
    shipped: readdirSync(new URL('constitutions/', config))
      .filter((file) => file.endsWith('.yaml'))
      .sort()
      .map((file) => {
        const source = readFileSync(new URL(`constitutions/${file}`, config), 'utf8')
        const examples = new URL(`constitutions/examples/${file}`, config)
        return {
          name: file.slice(0, -'.yaml'.length),
          description: /^description: (.+)$/m.exec(source)?.[1] ?? '',
          source,
          examples: existsSync(examples) ? (parse(readFileSync(examples, 'utf8')) as ShippedExample[]) : []
        }
      }),
    points: readPoints()
  }
  return known
}

/** @returns the schema with one for `texts`, and without former names */
function forEditors(schema: { properties: Record<string, object> }): object {
  const edited = structuredClone(withTexts(schema))
  const strip = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { properties, former } = node as { properties?: Record<string, object>; former?: unknown }
    if (typeof properties === 'object' && properties !== null) {
      const kept = fieldsOf({ properties })
      for (const name of Object.keys(properties)) if (!kept.includes(name)) delete properties[name]
    }
    if (Array.isArray(former)) Object.assign(node, { enum: valuesOf(node), former: undefined })
    for (const value of Object.values(node)) strip(value)
  }
  strip(edited)
  return edited
}

const map = (description: string, properties: object) => ({ type: 'object', description, properties })
const text = (description: string) => ({ type: 'string', description })

/** Adds a schema for `texts`, since editors need one; `checkTexts` checks the section itself. */
function withTexts(schema: { properties: Record<string, object> }): object {
  const { texts = {}, ...others } = schema.properties
  const byCategory = (places: readonly string[]) =>
    map(
      `One text, or texts by category, with default for the others. Places: ${places.map((place) => `{${place}}`).join(', ')}.`,
      Object.fromEntries(
        ['default', ...categories].map((name) => [name, text('A line whose place stays empty is left out.')])
      )
    )
  const sentences = Object.fromEntries(
    (['any', ...occasions] as const).map((occasion) => [occasion, byCategory(placesOf[occasion])])
  )
  const readers = Object.fromEntries(
    audiences.map((audience) => [
      audience,
      map(
        audience === 'developer' ? 'The texts of errors.' : 'The texts that people read in a conversation.',
        sentences
      )
    ])
  )
  const properties = {
    language: text('The language where neither the request nor its headers tell one: en, de, ja.'),
    region: text('The region whose help is named where the request tells none: DE, US.'),
    help: {
      type: 'object',
      description: 'Whom a person in crisis can turn to, by region, with default for every other: it stands in {help}.',
      patternProperties: { '^(?:[A-Z]{2}|default)$': text('One text.') }
    },
    ask: {
      type: 'array',
      description: 'The categories in which people are asked what they mean. Default: all.',
      items: { enum: [...categories] }
    },
    languages: {
      type: 'object',
      description: 'Sentences by language, reader and what has happened.',
      patternProperties: { '^[a-z]{2,3}$': map('The sentences of one language.', readers) }
    }
  }
  return { ...schema, properties: { ...others, texts: { ...texts, properties } } }
}

/** The comment at the top of a file. */
function headOf(file: string): string {
  const head = /^(?:#.*\n)+/.exec(readFileSync(new URL(file, config), 'utf8'))?.[0] ?? ''
  return head.replaceAll(/^# ?/gm, '').trim()
}

function readPoints(): object | null {
  const file = new URL('models/points.json', config)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
}
