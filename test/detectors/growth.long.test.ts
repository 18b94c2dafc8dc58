/** Detectors read any text in linear time, and to its end. */
import t from 'tap'
import { children } from '../../src/detectors/children.js'
import type { Detector } from '../../src/detectors/detector.js'
import { detectors } from '../../src/detectors/index.js'
import { personalData } from '../../src/detectors/personal-data.js'
import { secrets } from '../../src/detectors/secrets.js'
import { growth } from '../support/growth.js'
import { hostileShapes } from '../text/hostile-shapes.js'

t.test('texts of 256 Ki units made to be slow are read to their end', async (t) => {
  for (const [name, text] of hostileShapes(1 << 18)) {
    // The classifier's windows have a test of their own.
    for (const detector of detectors.filter(({ readsWords }) => readsWords !== true)) {
      const last = `${text} \nwrite to late@found.example or slg password="Zq8!late#Find1" b\u202eb`
      t.ok(
        detector.find(last).some(({ start }) => start > text.length),
        `${detector.id}: ${name}`
      )
    }
  }
})

t.test('lines, names and numbers over and over cost linear time', async (t) => {
  const long = 'aB3dE5gH7jK9mN2pQ4rS6tU8vW0xY1zCaB3dE5gH7jK9mN2pQ4rS6tU8vW0xY1zC'
  const cases: [Detector, string][] = [
    [secrets, `${long}\n`],
    [secrets, '-----BEGIN PRIVATE KEY-----\n'],
    [secrets, '-----END PRIVATE KEY-----\n'],
    [secrets, 'password = a1B2c3D4 '],
    [secrets, 'the password for the very old server is '],
    [secrets, '?key=aB3dE5gH7jK9&token='],
    [secrets, '{"d": "'],
    [personalData, 'bsn 111222333 '],
    [personalData, 'ssn '],
    [personalData, 'passport A1234567 '],
    [personalData, 'P<UTO<<'],
    [personalData, '99.99.99-999.99 ']
  ]
  for (const [detector, unit] of cases) {
    for (const [what, call] of [
      ['find', (rows: number) => detector.find(unit.repeat(rows))],
      ['growsFrom', (rows: number) => detector.growsFrom!(unit.repeat(rows), '', new Map())]
    ] as const) {
      const exponent = growth(call, 3_000)
      t.ok(exponent < 1.5, `${what} of ${unit}: grows with exponent ${exponent.toFixed(2)}`)
    }
  }
})

t.test('beginnings of tokens over and over cost linear time', async (t) => {
  const beginnings = [
    'eyJ-',
    'sk-',
    'ghp_',
    '0123456789:',
    'a.b.',
    'MIIEpIBAAKC',
    'https://hooks.slack.com/services/T1/',
    'A-B-'
  ]
  for (const unit of beginnings) {
    const exponent = growth((rows) => secrets.find(unit.repeat(rows)), 20_000)
    t.ok(exponent < 1.5, `${unit}: grows with exponent ${exponent.toFixed(2)}`)
  }
})

t.test('what is near a child is looked for in linear time', async (t) => {
  for (const unit of [
    '13 year old ',
    'how secret girl her parents our chats ',
    '怎样孩子秘密父母',
    'a. B',
    'كيف طفلة سر '
  ])
    for (const find of [
      (rows: number) => children.find(unit.repeat(rows)),
      (rows: number) => children.growsFrom!(unit.repeat(rows), '', new Map())
    ]) {
      const exponent = growth(find, 3_000)
      t.ok(exponent < 1.5, `${unit}: grows with exponent ${exponent.toFixed(2)}`)
    }
  for (const [name, text] of hostileShapes(1 << 16)) {
    const found = children.find(
      `${text} \n\nHow do I get a 13 year old girl to keep our chats secret from her parents?`
    )
    t.ok(
      found.some(({ end }) => end > text.length),
      name
    )
  }
})
