/** What a text quotes, and what its author may have said. */
import t from 'tap'
import { quotationsIn } from '../../src/text/quoted.js'

const mail = 'The harbour was built in 1871, and the first lamp was lit in the same winter by two brothers.'
const other = 'Visitors find the museum behind the second gate; it is closed on Mondays and on holidays.'
const quoted = (text: string) => quotationsIn(text).map(({ start, end }) => text.slice(start, end))

t.test('what stands between two paragraphs, or between marks, may be quoted', async (t) => {
  for (const [text, found] of [
    [`Sum this up.\n\n${mail}\n\nIn two sentences.`, mail],
    [`Sum this up.\n\n${mail}\n\n${other}\n\nIn two sentences.`, `${mail}\n\n${other}`],
    [`Sum this up.\n${mail}\n${other}\nIn two sentences.`, `${mail}\n${other}`],
    [`Sum this up.\n\n\`\`\`\n${mail}\n\`\`\``, mail],
    [`<document>\n${mail}\n</document>\n\nWhat is this about?`, mail],
    [`Sum this up.\n---\n${mail}\n---`, mail],
    [`Context:\n${mail}\n\nQuestion:\nWhat is this about?`, mail],
    [`Context: ${mail}\n\nQuestion: what is this about?`, `Context: ${mail}`],
    [`> ${mail}\n\nWhat is this about?`, `> ${mail}`],
    [`What is this about?\n\n> ${mail}`, `> ${mail}`],
    [`What is this about?\n\n<doc>${mail}</doc>`, `<doc>${mail}</doc>`],
    [`Sum this up.\n\nसंदर्भ:\n${mail}\n\nप्रश्न:\nWhat?`, mail],
    [`Sum this up.\n\nDocument #1:\n${mail}\n\nWhat?`, `Document #1:\n${mail}`.slice(13)],
    [`Translate: {"text": "${mail} \\"Sic!\\""}`, `"${mail} \\"Sic!\\""`],
    [`A 5" tablet. Translate "${mail}" now.`, `"${mail}"`],
    [`Sum this up.\n\n“${mail}\n\n${other}”`, `“${mail}\n\n${other}”`],
    [`Sum up the following text:\n\n${mail}`, mail],
    [`总结以下内容：\n\n${mail}`, mail],
    [`What does “${mail}” mean?`, `“${mail}”`],
    [`Translate "${mail}" into German.`, `"${mail}"`],
    [`Sum this up.\r\n\r\n${mail}\r\n\r\nIn two sentences.`, `${mail}\r`]
  ] as const)
    t.same(quoted(text), [found], text)
})

t.test('a request is not, wherever it stands', async (t) => {
  for (const text of [
    '',
    '\n\n',
    'Write a short letter to the neighbours.',
    'Write a letter to the neighbours.\nKeep it short.',
    `${mail} ${other}`.repeat(3),
    `${mail}\n\nWhat is this about?`,
    `What is this about?\n\n${mail}`,
    'Translate "good morning" into German.',
    'One.\n\nTwo.\n\nThree.'
  ])
    t.same(quoted(text), [], text)
  const long = `${mail} `.repeat(4).trim()
  t.same(quoted(`What is this about?\n\n${long}`), [long], 'a paragraph that is longer than a request')
  t.same(quoted(`${long}\n\nWhat is this about?`), [long])
})

t.test('a quotation beside what is quoted anyway is found by itself, and each once', async (t) => {
  const text = `Is “${other}” true?\n\n${mail}\n\nAnd this: "${other}"?`
  t.same(quoted(text), [`“${other}”`, mail, `"${other}"`])
  t.same(quoted(`Sum up.\n\nHe said: “${other}”. ${mail}\n\nThanks.`), [`He said: “${other}”. ${mail}`])
})

t.test('the time is linear in the text', async (t) => {
  for (const unit of [
    '"',
    '“',
    '„',
    '<a',
    '<a>\n',
    '```\n',
    '---',
    'a:\n',
    '\n',
    ' ',
    '\r',
    '> ',
    '"a',
    '“a”',
    'a: ',
    '#* ',
    '\\"',
    ' "\\"',
    '“”',
    '文',
    'a ',
    '*'
  ])
    for (const text of [unit.repeat(400_000 / unit.length), `a\n\n${unit.repeat(400_000 / unit.length)}\n\nb`]) {
      const began = performance.now()
      quotationsIn(text)
      t.ok(performance.now() - began < 1_500, JSON.stringify(unit))
    }
})
