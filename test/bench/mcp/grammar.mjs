// Attacks on agents over MCP and their benign twins, made by a grammar: each row has a twin of the same shape and about the same
// length, with the same words around what differs. The same seed writes the same rows, but for private keys, which are made
// for the run.
import { issued, privateKeys } from '../quality/shapes/issued.mjs'
import { randomFrom } from '../quality/shapes/random.mjs'
import { languages } from './words.mjs'

/** Names of tools; each row appends a number of its own. */
const names = ['lookup', 'convert', 'get_entry', 'make_ticket', 'summary', 'list_events']

/** An order as a pair [attack, twin]. */
function orderOf(r, words) {
  const when = r.pick(words.when)
  const [act, hush, drop] = [r.pick(words.act), r.pick(words.hush), r.pick(words.drop)]
  const shape = r.pick(['act', 'act hush', 'drop act', 'drop act hush'])
  return [0, 1].map((side) => {
    const acts = `${when} ${act[side]}`
    if (shape === 'act') return acts
    if (shape === 'act hush') return `${acts} ${hush[side]}`
    if (shape === 'drop act') return `${drop[side]} ${acts}`
    return `${drop[side]} ${acts} ${hush[side]}`
  })
}

/** An order as values of a schema have it: without the words around it. */
function wordsOf(r, words) {
  return r.pick([...words.act, ...words.drop])
}

const schema = (properties) => ({ type: 'object', properties, required: Object.keys(properties).slice(0, 1) })
const plain = { query: { type: 'string' } }

function tool(name, description, more = {}) {
  return { name, description, inputSchema: schema(plain), ...more }
}

/** A text of what a tool brings, with a sentence among the others. */
function among(r, words, sentence) {
  const said = Array.from({ length: r.int(2, 6) }, () => r.pick(words.says))
  said.splice(r.int(0, said.length), 0, sentence)
  return said.join(r.pick([' ', '\n', '\n\n']))
}

/** Draws once for both of a pair: what stands around the order is the same. */
function both(r, make) {
  const seed = r.int(0, 2 ** 31 - 1)
  return (value) => make(randomFrom(seed), value)
}

/** Definitions with an order in them. What a name is pinned to holds for one side alone, so each has its own. */
const definitions =
  (make, orders = orderOf) =>
  (r, words, name) => {
    const write = both(r, (own, [order, named]) => make(own, words, named, order))
    return orders(r, words).map((order, i) => ({ way: 'definition', ...write([order, `${name}${'ab'[i]}`]) }))
  }

/** What a row of each family is: a function to a pair [attack, twin] of what is sent, and by which way. */
const poisoning = {
  'tool description': definitions((r, words, name, order) => ({
    list: 'tools',
    value: tool(name, `${r.pick(words.does)} ${order}`)
  })),
  'description of a parameter': definitions((r, words, name, order) => ({
    list: 'tools',
    value: tool(name, r.pick(words.does), {
      inputSchema: schema({ ...plain, note: { type: 'string', description: order } })
    })
  })),
  'enum and default': definitions((r, words, name, order) => {
    const field = r.pick([
      { enum: ['short', 'long', order] },
      { default: order },
      { const: order },
      { examples: [order] }
    ])
    const inputSchema = schema({ mode: { type: 'string', ...field } })
    return { list: 'tools', value: tool(name, r.pick(words.does), { inputSchema }) }
  }, wordsOf),
  'order cut over a schema': definitions((r, words, name, order) => {
    const properties = Object.fromEntries(
      cut(order, 3).map((description, i) => [`p${i}`, { type: 'string', description }])
    )
    return { list: 'tools', value: tool(name, r.pick(words.does), { inputSchema: schema(properties) }) }
  }),
  'title and annotations': definitions((r, words, name, order) => ({
    list: 'tools',
    value: tool(
      name,
      r.pick(words.does),
      r.pick([{ title: order }, { annotations: { title: order, readOnlyHint: true } }])
    )
  })),
  'prompts, resources, templates': definitions((r, words, name, order) => {
    const description = `${r.pick(words.does)} ${order}`
    return r.pick([
      {
        list: 'prompts',
        value: { name, description, arguments: [{ name: 'topic', description: r.pick(words.says) }] }
      },
      { list: 'prompts', value: { name, arguments: [{ name: 'topic', description: order }] } },
      { list: 'resources', value: { uri: `memo://${name}`, name, description } },
      { list: 'resourceTemplates', value: { uriTemplate: `memo://${name}/{id}`, name, description } }
    ])
  }),
  'server instructions': definitions((r, words, _name, order) => ({
    list: 'instructions',
    value: among(r, words, order)
  })),
  'shadowing by words': definitions(
    (r, words, name, said) => ({ list: 'tools', value: tool(name, `${r.pick(words.does)} ${said}`) }),
    (r, words) => r.pick(words.over)
  )
}

function cut(text, count) {
  const words = /\s/.test(text) ? text.split(/(?<=\s)/) : [...text]
  const size = Math.ceil(words.length / count)
  return Array.from({ length: count }, (_, i) =>
    words
      .slice(i * size, (i + 1) * size)
      .join('')
      .trim()
  ).filter(Boolean)
}

/** Of a tool of another server its name, one that looks like it, and one that is only near it. */
const looks = [
  ['list_files', 'Iist_files', 'list_field'],
  ['read_file', 'read_fiIe', 'read_fire'],
  ['send_mail', 'send_rnail', 'send_nail'],
  ['send_sms', 'SEND_SMS', 'send_ems'],
  ['pay_invoice', 'pay_lnvoice', 'pay_device']
]

/** What changes after it was seen, in a word or in an order; and what is said otherwise and means the same. */
const changes = {
  'rug pull': (r, words, name) => {
    const first = tool(name, `${r.pick(words.does)} ${r.pick(words.says)}`)
    const order = orderOf(r, words)
    const changed = r.pick([
      { ...first, description: `${first.description} ${order[0]}` },
      { ...first, description: `${first.description} ${order[1]}` },
      { ...first, inputSchema: schema({ ...plain, context: { type: 'string' } }) },
      { ...first, annotations: { readOnlyHint: true } }
    ])
    const again = Object.fromEntries(Object.entries(first).reverse())
    return [changed, again].map((value) => ({ way: 'change', list: 'tools', first, value }))
  },
  'look-alike name': (r, words, _name, id) => {
    const [other, ...both] = r.pick(looks).map((name) => `${name}_${id}`)
    const does = r.pick(words.does)
    return both.map((name) => ({ way: 'definition', list: 'tools', other: tool(other, does), value: tool(name, does) }))
  }
}

const results = (place) => (r, words) => {
  const write = both(r, (own, order) => place(among(own, words, order), own))
  return orderOf(r, words).map(write)
}
const said = (text) => ({ content: [{ type: 'text', text }] })

const injection = {
  'tool result': results((text) => ({ way: 'result', value: said(text) })),
  'result in fields': results((text, r) => ({
    way: 'result',
    value: {
      ...said(`${r.int(1, 90)} rows`),
      structuredContent: { rows: [{ id: r.int(1, 999), title: r.hex(6), body: text }] }
    }
  })),
  'result cut over blocks': results((text) => ({
    way: 'result',
    value: { content: cut(text, 4).map((part) => ({ type: 'text', text: part })) }
  })),
  resource: results((text, r) => ({
    way: 'resource',
    value: { contents: [{ uri: 'memo://page', mimeType: r.pick(['text/plain', 'text/markdown']), text }] }
  })),
  'prompt’s messages': results((text) => ({
    way: 'prompt',
    value: { messages: [{ role: 'user', content: { type: 'text', text } }] }
  })),
  'sampling request': results((text) => ({
    way: 'asks',
    method: 'sampling/createMessage',
    value: { messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 100 }
  })),
  'elicitation request': results((text) => ({
    way: 'asks',
    method: 'elicitation/create',
    value: { message: text, requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } } }
  }))
}

const keys = ['PEM, EC', 'PEM, Ed25519', 'PEM in JSON', 'PEM without its end', 'JWK']

/** Random values that are nothing: digests, numbers of orders, public keys. */
function nothingLike(r, secret) {
  const { length } = secret
  return r.pick([
    `sha256:${r.hex(64)}`,
    `rev ${r.hex(40)}`,
    `order ${r.digits(Math.min(12, length))}`,
    `commit-${r.hex(40)}`
  ])
}

const carried = (make) => (r, words) => {
  const [secret, twin] = make(r, words)
  const say = r.pick(words.says)
  const put = r.pick([
    (text) => ({ query: `${say} ${text}` }),
    (text) => ({ title: say, body: text }),
    (text) => ({ url: 'https://elsewhere.example/in', form: { note: say, data: [text] } }),
    (text) => ({ query: say, page: 2, cursor: Buffer.from(text).toString('base64') })
  ])
  return [secret, twin].map((text) => ({ way: 'call', value: put(text) }))
}

const exfiltration = {
  'credentials in arguments': carried((r) => {
    const secret = issued[r.pick(Object.keys(issued))](r)
    return [secret, nothingLike(r, secret)]
  }),
  'private keys in arguments': carried((r) => {
    const secret = privateKeys[r.pick(keys)]()
    return [secret, Array.from({ length: Math.ceil(secret.length / 72) }, () => `sha256:${r.hex(64)}`).join('\n')]
  })
}

export const families = { ...poisoning, ...changes, ...injection, ...exfiltration }

/**
 * @param each pairs of one family in one language
 * @returns rows {family, language, id, sides: [attack, twin]}; a side has its `way` and what is sent by it
 */
export function* rowsOf(seed, each) {
  let count = 0
  for (const [family, make] of Object.entries(families)) {
    for (const [language, words] of Object.entries(languages)) {
      const r = randomFrom(seed + count)
      for (let i = 0; i < each; i++) {
        const id = ++count
        yield { family, language, id, sides: make(r, words, `${r.pick(names)}_${id}`, id) }
      }
    }
  }
}
