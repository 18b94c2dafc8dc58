import t from 'tap'

// Plain modules without types: what they compute is what is tested.
const load = (name: string) => import(new URL(`./bench/quality/${name}`, import.meta.url).href)
const { areas, f1, sample, wilson } = await load('stats.mjs')
const { readSets } = await load('rows.mjs')
const { disguises } = await load('disguises.mjs')

const close = (t: { ok(value: boolean, about: string): unknown }, found: number, wanted: number, about?: string) =>
  t.ok(Math.abs(found - wanted) < 5e-4, `${about ?? ''} ${found} is ${wanted}`)

t.test("Wilson's interval is that of the textbook", async (t) => {
  // Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
  const table = [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718]
  ] as const
  for (const [count, of, low, high] of table) {
    const found = wilson(count, of)
    close(t, found.low, low, `${count} of ${of}`)
    close(t, found.high, high, `${count} of ${of}`)
  }
  t.equal(wilson(0, 0), undefined)
})

t.test('areas by hand', async (t) => {
  // Pairs of a positive and a negative: 0.9 beats both, 0.4 beats one of two: 3 of 4. Precision at the positives: 1 and 2/3.
  const found = areas([0.9, 0.6, 0.4, 0.1], [true, false, true, false])
  close(t, found.auroc.share, 0.75)
  close(t, found.auprc.share, (1 + 2 / 3) / 2)
  t.equal(found.positives, 2)

  // All alike: chance, and the share of positives.
  const tied = areas([0.5, 0.5, 0.5, 0.5], [true, false, false, false])
  close(t, tied.auroc.share, 0.5)
  close(t, tied.auprc.share, 0.25)

  // A tie of one positive with one negative counts half: (2 + 1.5) of 4 pairs.
  close(t, areas([0.9, 0.5, 0.5, 0.2], [true, true, false, false]).auroc.share, 0.875)
  close(t, areas([1, 2, 3], [true, true, false]).auroc.share, 0)
  t.equal(areas([1, 2], [true, true]), undefined, 'one class has no area')
})

t.test('intervals hold the value, are the same each time, and shrink with rows', async (t) => {
  const rows = (count: number) =>
    areas(
      Array.from({ length: count }, (_, i) => ((i * 37) % 100) + (i % 3 === 0 ? 25 : 0)),
      Array.from({ length: count }, (_, i) => i % 3 === 0)
    )
  const few = rows(60)
  const many = rows(3000)
  t.ok(few.auroc.low <= few.auroc.share && few.auroc.share <= few.auroc.high)
  t.same(rows(60), few)
  t.ok(many.auroc.high - many.auroc.low < (few.auroc.high - few.auroc.low) / 3)
})

t.test('F1 from counts', async (t) => {
  t.same(f1(6, 2, 4), { precision: 0.75, recall: 0.6, f1: (2 * 0.75 * 0.6) / 1.35 })
  t.equal(f1(0, 0, 5).f1, 0)
})

t.test('a sample is the same each time and keeps the order', async (t) => {
  const list = Array.from({ length: 1000 }, (_, i) => i)
  const drawn = sample(list, 100, 3)
  t.same(drawn, sample(list, 100, 3))
  t.equal(new Set(drawn).size, 100)
  t.same(
    drawn,
    [...drawn].sort((a: number, b: number) => a - b)
  )
  t.notSame(drawn, sample(list, 100, 4))
})

t.test('rows find their group, role and language from their own labels', async (t) => {
  const dir = t.testdir({
    'some.jsonl': [
      { text: 'What is the weather?', labels: {}, unsafe: 0, kind: 'prompt' },
      { text: 'a', labels: { prompt_injection: 1 }, kind: 'document' },
      { text: 'b', labels: { prompt_injection: 0 }, unsafe: 0, kind: 'document' },
      { text: 'c', labels: { jailbreak: 1 }, unsafe: 1, kind: 'prompt' },
      { text: 'd', labels: {}, unsafe: 1, kind: 'document', context: { role: 'assistant' } },
      { text: 'どこですか', labels: { hate: 0 }, unsafe: 0, kind: 'comment' },
      { text: 'e', labels: {}, unsafe: 1, kind: 'prompt', context: { lang: 'Vietnamese' } }
    ]
      .map((row) => JSON.stringify(row))
      .join('\n')
  })
  const rows = readSets(dir, {}).get('some')
  t.same(
    rows.map(({ group, role, language }: Record<string, string>) => [group, role, language]),
    [
      ['benign prompts', 'user', 'en'],
      ['indirect injection', 'tool', 'en'],
      ['benign documents', 'tool', 'en'],
      ['jailbreak', 'user', 'en'],
      ['answers', 'assistant', 'en'],
      ['comments', 'user', 'ja'],
      ['harmful requests', 'user', 'vi']
    ]
  )
})

t.test('disguises change the text, and those that standards define are what other decoders read', async (t) => {
  const text = 'How do I bake bread in 2 hours?'
  const by = new Map<string, { apply(text: string): string }>(
    disguises.map((one: { name: string; apply(text: string): string }) => [one.name, one])
  )
  for (const [name, { apply }] of by) {
    t.not(apply(text), text, name)
    t.equal(apply(text), apply(text), `${name} is the same each time`)
  }
  const disguised = (name: string) => by.get(name)!.apply(text)
  t.equal(Buffer.from(disguised('base64'), 'base64').toString(), text)
  t.equal(decodeURIComponent(disguised('URL encoding')), text)
  t.equal(disguised('fullwidth letters').normalize('NFKC'), text)
  t.equal(disguised('mathematical letters').normalize('NFKC'), text)
  t.equal(JSON.parse(`"${disguised('backslash-u escapes')}"`), text)
  // RFC 4648 section 10 and RFC 2045 section 6.7.
  t.equal(by.get('base32')!.apply('foobar'), 'MZXW6YTBOI======')
  t.equal(by.get('quoted-printable')!.apply('a='), '=61=3D')
  t.equal(by.get('Morse')!.apply('SOS 1'), '... --- ... / .----')
  t.equal(by.get('spaced letters')!.apply('to go'), 't o  g o')
})
