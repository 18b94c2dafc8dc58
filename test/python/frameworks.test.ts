/** Python's frameworks over those APIs: what application code sees of each outcome, in front of the built gateway. */
import t from 'tap'
import { fill, noPackages, texts } from './lane.js'
import { checkCells, checkRows } from './table.js'

t.test('frameworks over the APIs', { skip: noPackages('frameworks') }, async (t) => {
  const cells = await fill(t, 'frameworks', [
    'langchain',
    'llama_index_llm',
    'pydantic_agent',
    'instructor_client',
    'openai_agents',
    'litellm_sdk'
  ])
  checkCells(t, cells, texts.permit)
  checkRows(t, cells)
})
