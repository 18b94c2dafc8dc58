/** The makers' own Python packages: what application code sees of each outcome, in front of the built gateway. */
import t from 'tap'
import { fill, noPackages, texts } from './lane.js'
import { checkCells, checkRows } from './table.js'

t.test('the packages of the models’ makers', { skip: noPackages('sdks') }, async (t) => {
  const all = await fill(t, 'sdks', [
    'openai_sdk',
    'anthropic_sdk',
    'google_genai',
    'ollama_sdk',
    'mistral',
    'cohere_sdk'
  ])
  const isCohere = ({ package: name }: { package: string }) => name === 'cohere'
  const cells = all.filter((cell) => !isCohere(cell))
  checkCells(t, cells, texts.permit)
  checkRows(t, cells)
  for (const { seen, streamed, how } of all.filter(isCohere)) {
    t.match(seen, { error: 'cohere.NotFoundError', status: 404 }, `cohere, ${streamed}, ${how}`)
  }
})
