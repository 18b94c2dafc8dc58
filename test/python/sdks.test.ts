/** The makers' own Python packages: what application code sees of each outcome, in front of the built gateway. */
import t from 'tap'
import { fill, noPackages, texts } from './lane.js'
import { checkCells, checkRows } from './table.js'

t.test('the packages of the models’ makers', { skip: noPackages('sdks') }, async (t) => {
  const cells = await fill(t, 'sdks', [
    'openai_sdk',
    'anthropic_sdk',
    'google_genai',
    'ollama_sdk',
    'mistral',
    'cohere_sdk'
  ])
  checkCells(t, cells, texts.permit)
  checkRows(t, cells)
})
