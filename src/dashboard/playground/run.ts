/** One run of the playground: what each of one or two policies says of a text or a chat, and why. */
import { api } from '../api'
import type { Explanation, Outcome, TrialText } from '../constitution-types'
import { overlayOf } from '../policy/overlay'
import { chatOf, contextOf, type Said, type Settings, shippedName } from './settings'

/** UTF-16 units, as the API takes them. */
export const mostCharacters = 100_000
const mostEarlier = 20

export interface Side {
  label: string
  verdict: Outcome | null | undefined
  explanation: Explanation | undefined
}
/** A text of what was judged, with the pointer by which findings name it. */
export interface JudgedPart {
  who: string
  pointer: string | undefined
  text: string
}
export interface Run {
  parts: JudgedPart[]
  sides: Side[]
  /** What was left out, in sentences. */
  cut: string[]
}

export async function runPlayground(settings: Settings, said: Said): Promise<Run> {
  const { mode, name, beside, role } = settings
  const context = contextOf(settings.context)
  const cut: string[] = []
  const parts: JudgedPart[] = []
  let text: TrialText
  if (mode === 'chat') {
    const chat = chatOf(said)
    text = { chat, ...(context !== undefined && { context }) }
    for (const [i, { role, content }] of chat.messages.entries())
      parts.push({ who: role, pointer: `/messages/${i}/content`, text: content })
    const empty = said.messages.length - chat.messages.length
    if (empty > 0) cut.push(`${empty} empty ${empty === 1 ? 'message was' : 'messages were'} left out.`)
  } else {
    if (said.text === '') throw new Error('Write a text.')
    const judged = wholeCharacters(said.text, mostCharacters)
    if (judged.length < said.text.length)
      cut.push(
        `The text has ${said.text.length.toLocaleString('en')} characters: the first
        ${judged.length.toLocaleString('en')} were judged, the limit of one call.`
      )
    const earlier = said.earlier.split(/\n\s*\n/).filter((turn) => turn.trim() !== '')
    const kept = earlier.slice(-mostEarlier)
    if (kept.length < earlier.length)
      cut.push(`${earlier.length - kept.length} of the oldest turns were left out: a run takes ${mostEarlier}.`)
    text = {
      input_text: judged,
      role,
      ...(role === 'assistant' && { direction: 'answer' as const }),
      ...(context !== undefined && { context }),
      ...(kept.length > 0 && role !== 'assistant' && { history: kept })
    }
    parts.push({ who: role, pointer: undefined, text: judged })
  }
  const sides: Side[] = []
  for (const policy of beside === '' ? [name] : [name, beside]) {
    // What is in force, a version that is not, or one that ships: `name`, `name@version` or `shipped:name`.
    const ships = shippedName(policy)
    const [of = policy, version] = ships === undefined ? policy.split('@') : [name]
    const which = version === undefined && ships === undefined ? 'active' : 'candidate'
    const trial = await api.tryOut(of, {
      texts: [text],
      explain: true,
      ...(version !== undefined && { version: Number(version) }),
      ...(ships !== undefined && { source: overlayOf(await api.language(), ships, of) })
    })
    const [result] = trial.results
    sides.push({
      label: ships === undefined ? (trial[which]?.label ?? policy) : `${ships}, as it ships`,
      verdict: result?.[which],
      explanation: result?.explanation?.[which]
    })
  }
  return { parts, sides, cut }
}

/** No half of a character that takes two units. */
function wholeCharacters(text: string, most: number): string {
  if (text.length <= most) return text
  const last = text.charCodeAt(most - 1)
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? most - 1 : most)
}
