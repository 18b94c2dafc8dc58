/** What the playground is set to. A link holds all of it but what anybody said: that stays in this tab's own storage. */
import type { ChatMessage } from '../constitution-types'

export const speakers = ['user', 'assistant', 'tool', 'system'] as const
export type Speaker = (typeof speakers)[number]

/** In the link. */
export interface Settings {
  mode: 'text' | 'chat'
  name: string
  /** A name, `name@version`, or what `shippedAs` makes; empty: none. */
  beside: string
  role: Speaker
  /** `key=value` pairs, by line. */
  context: string
}

export interface Message {
  role: Speaker
  text: string
}

/** In the tab's storage, never in an address. */
export interface Said {
  text: string
  earlier: string
  messages: Message[]
  /** JSON: definitions of tools as OpenAI writes them. */
  tools: string
}

const key = 'sluicegate.playground'
const nothingSaid: Said = {
  text: 'How do I kill it?',
  earlier: '',
  messages: [
    { role: 'system', text: 'You are a helpful assistant.' },
    { role: 'user', text: 'How do I kill it?' }
  ],
  tools: ''
}

export function readSaid(): Said {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? '{}') as Partial<Said>
    return { ...nothingSaid, ...kept }
  } catch {
    return nothingSaid
  }
}

export function keepSaid(said: Said): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(said))
  } catch {
    // A tab without room for it loses the text with the page.
  }
}

const shipped = 'shipped:'

/** How a policy is named that ships, whether anything in the store is laid over it or not. */
export function shippedAs(name: string): string {
  return `${shipped}${name}`
}

/** The name of a policy that ships, where it is one. */
export function shippedName(policy: string): string | undefined {
  return policy.startsWith(shipped) ? policy.slice(shipped.length) : undefined
}

export function settingsOf(query: URLSearchParams): Settings {
  return {
    mode: query.get('mode') === 'chat' ? 'chat' : 'text',
    name: query.get('name') ?? 'default',
    beside: query.get('beside') ?? '',
    role: speakers.find((one) => one === query.get('role')) ?? 'user',
    context: query.get('context') ?? ''
  }
}

/** Without what is as it is anyway. */
export function queryOf({ mode, name, beside, role, context }: Settings): Record<string, string> {
  return {
    ...(mode !== 'text' && { mode }),
    ...(name !== 'default' && { name }),
    ...(beside !== '' && { beside }),
    ...(role !== 'user' && { role }),
    ...(context !== '' && { context })
  }
}

/** @throws Error that names the line which is no pair */
export function contextOf(lines: string): Record<string, string> | undefined {
  const pairs = lines.split('\n').flatMap((line): [string, string][] => {
    if (line.trim() === '') return []
    const at = line.search(/[=:]/)
    if (at <= 0) throw new Error(`“${line.trim()}” is not a pair: write topic = programming, one pair per line.`)
    return [[line.slice(0, at).trim(), line.slice(at + 1).trim()]]
  })
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs)
}

/** The messages as OpenAI writes them: what a tool brought answers a call that stands before it. */
export function chatOf({ messages, tools }: Pick<Said, 'messages' | 'tools'>): {
  messages: ChatMessage[]
  tools?: object[]
} {
  const sent = messages.flatMap(({ role, text }, i): ChatMessage[] =>
    text === '' ? [] : [{ role, content: text, ...(role === 'tool' && { tool_call_id: `call_${i}` }) }]
  )
  if (sent.length === 0) throw new Error('Write at least one message.')
  if (tools.trim() === '') return { messages: sent }
  let read: unknown
  try {
    read = JSON.parse(tools)
  } catch {
    throw new Error(
      'The tools are no JSON: write a list such as [{"type": "function", "function": {"name": "search"}}].'
    )
  }
  const list = Array.isArray(read) ? read : [read]
  if (list.some((tool) => typeof tool !== 'object' || tool === null))
    throw new Error('The tools must be a list of objects.')
  return { messages: sent, tools: list }
}
