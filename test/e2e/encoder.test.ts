/** What is raised is read by the encoder before anything passes, on every surface; without a reading there is no verdict. */

import { createHash } from 'node:crypto'
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { fixture } from '../encoder/support.js'
import { source } from '../policy/support.js'
import { type Built, build, call, tempDir } from '../support/gateway.js'

const rules = `
  - { name: hint, category: illicit, weight: 0.9, nominate: true, any: [car] }
  - { name: reader_illicit, category: illicit, detector: encoder, kinds: [illicit], weight: 1 }
`

function yaml(t: Test, encoder: string): string {
  const file = join(tempDir(t), 'default.yaml')
  writeFileSync(file, source({ rules }))
  return `constitutions: { default: ${file} }\nencoder: ${encoder}\n`
}

/** What the configuration says, not what tests of other things start with. */
const itself = { SLUICEGATE_ENCODER: '' }

const evaluate = async ({ url, key }: Built, input_text: string) =>
  (await call(url, '/api/v1/safety/evaluate', { key, body: { input_text } })).body
const status = async ({ url, key }: Built) => (await call(url, '/api/v1/status', { key })).body
const metrics = async ({ url, key }: Built) => (await call(url, '/metrics', { key })).body as string

t.test('the encoder decides over what was raised', async (t) => {
  const at = await build(t, { env: itself, yaml: yaml(t, `{ use: required, folder: ${fixture} }`) })
  t.match(await evaluate(at, 'wash the car'), { evaluation: { decision: 'permit' } })
  const { evaluation } = await evaluate(at, 'steal the car')
  t.match(evaluation, { matched_rules: ['reader_illicit'] })
  t.not(evaluation.decision, 'permit')
  t.match(await evaluate(at, 'steal the bicycle'), { evaluation: { decision: 'permit' } }, 'nothing was raised')
  t.same(
    (await status(at)).weakenings.filter((line: string) => line.startsWith('encoder')),
    []
  )
  const text = await metrics(at)
  t.match(text, /sluicegate_encoder_windows_total\{from="model"\} 2/)
  t.match(text, /sluicegate_encoder_duration_seconds_count 2/)
  t.match(text, /sluicegate_encoder_waiting 0/)
})

t.test('without a reading there is no verdict', async (t) => {
  const at = await build(t, { env: itself, yaml: yaml(t, `{ use: required, folder: ${fixture}, deadline: 1ms }`) })
  const long = `${'wash the car '.repeat(3000)}`
  const answer = await call(at.url, '/api/v1/safety/evaluate', { key: at.key, body: { input_text: long } })
  t.match(answer, { status: 503, body: { error: 'evaluator_unavailable' } })
  const counted = await metrics(at)
  t.match(counted, /sluicegate_encoder_failures_total\{cause="deadline"\} 1/)
  t.match(counted, /sluicegate_evaluator_failures_total\{surface="evaluate",cause="timeout"\} 1/)
  const line = at.logs.map((each) => JSON.parse(each)).find(({ msg }) => msg === 'evaluator_unavailable')
  t.match(line.err, { cause: { name: 'EvaluatorError', cause: { name: 'EncoderError', failure: 'deadline' } } })
  const { rows } = (await call(at.url, '/api/v1/audit?kind=fail_closed', { key: at.key })).body
  t.match(rows, [{ data: { cause: 'timeout' } }])
})

t.test('where the library does not run, a preferred encoder is a weakening, and what was raised counts', async (t) => {
  const folder = tempDir(t)
  for (const name of readdirSync(fixture)) copyFileSync(join(fixture, name), join(folder, name))
  writeFileSync(join(folder, 'encoder.onnx'), 'no model')
  const manifest = JSON.parse(readFileSync(join(fixture, 'encoder.json'), 'utf8'))
  manifest.model.sha256 = createHash('sha256').update('no model').digest('hex')
  writeFileSync(join(folder, 'encoder.json'), JSON.stringify(manifest))
  const at = await build(t, { env: itself, yaml: yaml(t, `{ use: preferred, folder: ${folder} }`) })
  const { evaluation } = await evaluate(at, 'wash the car')
  t.match(evaluation, { matched_rules: ['hint'] })
  const inForce: string[] = (await status(at)).weakenings
  t.ok(inForce.some((line) => line.startsWith('encoder: onnxruntime-node does not run here')))
  t.ok(at.logs.some((line) => line.includes('onnxruntime-node does not run here')))
  t.match(await metrics(at), /sluicegate_weakening_settings\{setting="encoder: onnxruntime-node does not run here/)
  await t.rejects(
    build(t, { env: itself, yaml: yaml(t, `{ use: required, folder: ${folder} }`) }),
    /encoder: required, and/
  )
  await t.rejects(
    build(t, { env: itself, yaml: yaml(t, `{ use: preferred, folder: ${join(folder, 'none')} }`) }),
    /encoder\.json: cannot be read/
  )
})
