/**
 * An endpoint of the shape of OpenAI's moderations: `POST {base_url}/moderations` with `{model, input: [text, …]}`, one
 * result per text with `flagged` and a score for each category (platform.openai.com/docs/api-reference/moderations).
 * It knows no roles: each text is one input. A picture is one input with the texts of its message (`omni-moderation`).
 */
import type { Json, JsonObject } from '../base/chat.js'
import type { RemoteJudgeSettings } from '../base/settings.js'
import { type Adapter, type Answer, JudgeFailure, type Labels, partOf, scoresOf } from './adapter.js'
import { arrayOf, createClient, objectOf } from './http.js'

export function createModerations(settings: RemoteJudgeSettings): Adapter {
  const client = createClient(settings)
  return {
    async ask({ texts, picture }, signal) {
      const input = picture === undefined ? texts.map(({ text }) => text) : [...texts.map(textPart), partOf(picture)]
      const reply = await client.post('/moderations', { model: settings.model, input }, signal)
      const results = arrayOf(reply['results'])
      if (results?.length !== (picture === undefined ? texts.length : 1)) {
        throw new JudgeFailure('invalid_response', 'the judge answered with another number of results than inputs')
      }
      const read = results.map((result) => readResult(result, settings.labels))
      return {
        scores: scoresOf(
          settings.labels,
          read.flatMap(({ found }) => found)
        ),
        flagged: read.some(({ flagged }) => flagged)
      } satisfies Answer
    },
    close: () => client.close()
  }
}

function textPart({ text }: { text: string }): JsonObject {
  return { type: 'text', text }
}

/** Older models score fewer categories, and leave the others out or null: those are not scored, which is no 0. */
function readResult(result: Json, labels: Labels): { found: [string, number][]; flagged: boolean } {
  const { flagged, category_scores: given } = objectOf(result) ?? {}
  const scores = objectOf(given)
  if (typeof flagged !== 'boolean' || scores === undefined) {
    throw new JudgeFailure('invalid_response', 'a result of the judge lacks flagged or category_scores')
  }
  const found = Object.entries(scores).filter((entry): entry is [string, number] => {
    const [label, score] = entry
    if (!Object.hasOwn(labels, label) || score === null) return false
    if (typeof score === 'number' && score >= 0 && score <= 1) return true
    throw new JudgeFailure('invalid_response', `the judge scores ${label} with something that is not 0 to 1`)
  })
  return { found, flagged }
}
