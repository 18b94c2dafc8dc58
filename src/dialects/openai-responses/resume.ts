/**
 * Expands a request that continues from a response of the gateway's own, which no upstream knows: into the earlier
 * request, the gateway's response, and the new input.
 */
import type { Json } from '../../base/chat.js'
import type { Chain } from '../dialect.js'

export const chain: Chain = {
  after: ({ previous_response_id: id }) => (typeof id === 'string' ? id : undefined),
  idOf: (requestId) => `resp_${requestId}`,
  kept: ({ input, previous_response_id: after }) => ({ input: input ?? null, after: after ?? null }),
  resume(body, { input, after }, said) {
    body.input = [...items(input), { role: 'assistant', content: said }, ...items(body.input)]
    if (typeof after === 'string') body.previous_response_id = after
    else delete body.previous_response_id
  }
}

function items(input: Json | undefined): Json[] {
  if (Array.isArray(input)) return input
  return typeof input === 'string' ? [{ role: 'user', content: input }] : []
}
