import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readPieces } from '../../src/encoder/pieces.js'
import { growth } from '../support/growth.js'
import { fixture } from './support.js'

const json = readFileSync(join(fixture, 'encoder.tokenizer.json'), 'utf8')

t.test('what a text costs grows with its length alone', async (t) => {
  const pieces = readPieces(json)
  const awkward = [
    'a',
    '=',
    '====',
    ' ',
    '\n',
    'a\n',
    ' \t',
    '\u0301\u0316',
    '\ufdfa',
    '\u200d',
    '日本語',
    '👩',
    '한',
    'ж'
  ]
  for (const unit of awkward) {
    const exponent = growth((length) => pieces.cut(unit.repeat(length / unit.length)), 60_000)
    t.ok(exponent < 1.6, `${JSON.stringify(unit)}: grows with exponent ${exponent.toFixed(2)}`)
  }
})
