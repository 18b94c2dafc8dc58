/** The page on constitutions: the bands, and the context that counts, are those of the constitutions that ship. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { parseConstitution } from '../../src/policy/constitution/parse.js'
import { ConstitutionSource } from '../../src/policy/constitution/schema.js'

const at = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const page = at('docs/constitutions.md')
const shipped = ['default', 'strict', 'developer', 'mcp'].map((name) =>
  parseConstitution(at(`config/constitutions/${name}.yaml`), `${name}.yaml`)
)

/** The cells below a header row. */
function table(header: string): string[][] {
  const [, rest] = page.split(`${header}\n|---`)
  const rows = rest!.split('\n').slice(1)
  const end = rows.findIndex((line) => !line.startsWith('|'))
  return rows.slice(0, end).map((line) => line.slice(2, -2).split(' | '))
}

const quoted = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1]!)

t.test('the page has the numbers of the bands', async (t) => {
  const rows = table('| shipped | the middle band begins at | the high band begins at |')
  t.same(
    rows,
    shipped.map(({ name, bands }) => [`\`${name}\``, String(bands.middle), String(bands.high)])
  )
})

t.test('the page has the outcomes that a band may have', async (t) => {
  const { high, middle } = ConstitutionSource.properties.categories.properties['violence']!.properties
  t.same(
    table('| field | accepted values |').map(([field, values]) => [
      quoted(field!)[0],
      quoted(values!).filter((value) => value !== 'depends')
    ]),
    [
      ['high', high.enum],
      ['middle', middle.enum]
    ]
  )
})

t.test('the page has every key and value of context that settles a match, and no other', async (t) => {
  const rows = table('| key | settles matches in | with one of these values |')
  const documented = rows.map(([key, categories, values]) => [quoted(key!)[0], quoted(categories!), quoted(values!)])
  for (const { name, rules } of shipped) {
    const found = new Map<string, Set<string>>()
    for (const { category, context } of rules) {
      t.same(context.forbid, {}, `${name}: the page says nothing of context that sharpens`)
      for (const entry of Object.entries(context.permit)) {
        const id = JSON.stringify(entry)
        found.set(id, (found.get(id) ?? new Set()).add(category))
      }
    }
    const counted = [...found].map(([id, categories]) => {
      const [key, values] = JSON.parse(id)
      return [key, [...categories].sort(), values]
    })
    t.same(documented, counted, name)
  }
})

t.test('the page says what a shipped constitution assumes', async (t) => {
  for (const { name, assume } of shipped) {
    const [entry] = Object.entries(assume ?? {})
    if (entry !== undefined) t.ok(page.includes(`\`${name}\` assumes \`${entry.join(': ')}\``), name)
  }
})
