/**
 * What an editor of constitutions needs to know: the schemas with the meaning of each word, the names that may be used, the
 * constitutions that ship with their examples, and what each point of the bands was measured to mean.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { roles } from '../../base/chat.js'
import { detectors } from '../../detectors/index.js'
import { categories, detectionTypes } from '../evaluation.js'
import { bases, ConstitutionSource, ExtensionSource } from './schema.js'
import { readList, shippedFormats, shippedLists } from './shipped.js'

const config = new URL('../../../config/', import.meta.url)

/** What a shipped constitution decides of one text, as the tests hold it to. */
export interface ShippedExample {
  text: string
  decision: string
  context?: Record<string, string>
  role?: string
  because?: string
}

export interface Language {
  /** JSON Schemas: a constitution by itself, and one laid over another. */
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
    schemas: { whole: ConstitutionSource, overlay: ExtensionSource },
    bases,
    categories,
    types: detectionTypes,
    roles,
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

/** The comment at the top of a file. */
function headOf(file: string): string {
  const head = /^(?:#.*\n)+/.exec(readFileSync(new URL(file, config), 'utf8'))?.[0] ?? ''
  return head.replaceAll(/^# ?/gm, '').trim()
}

function readPoints(): object | null {
  const file = new URL('models/points.json', config)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
}
