/**
 * Azure OpenAI: OpenAI's operations under Azure's paths, by deployment (`?api-version=`) or by the v1 API, with Azure's
 * credential header. Shapes: learn.microsoft.com/azure/ai-services/openai/reference and …/api-version-lifecycle.
 */
import type { Dialect } from './dialect.js'
import { openaiChat } from './openai-chat.js'
import { openaiCompletions } from './openai-completions.js'
import { openaiEmbeddings } from './openai-embeddings.js'
import { openaiResponses } from './openai-responses.js'

/** An id, as clients of Azure make it up. */
export const clientRequestId = { 'x-ms-client-request-id': { form: /^[\w.:-]{1,128}$/ } }

export const apiVersion = /^(?:\d{4}-\d{2}-\d{2}(?:-preview)?|v1|preview|latest)$/

function azure(operation: Dialect, suffix: string, paths: readonly string[]): Dialect {
  return {
    ...operation,
    id: 'azure-openai',
    suffix,
    paths,
    parameters: { deployment: /[A-Za-z0-9_][A-Za-z0-9._-]{0,63}/ },
    // Azure lists models by resource, not by `/v1/models`.
    passPaths: [],
    auth: 'api-key',
    keyHeaders: ['api-key'],
    query: { 'api-version': apiVersion },
    requestHeaders: { ...operation.requestHeaders, ...clientRequestId },
    responseHeaders: {
      ...operation.responseHeaders,
      'apim-request-id': /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
      // Not `x-ms-region`: a name of a place can be any words.
      'retry-after-ms': /^\d{1,10}(?:\.\d{1,6})?$/
    },
    readRequest(body, target) {
      const request = operation.readRequest(body, target)
      const { deployment } = target.params
      if (deployment === undefined) return request
      // Azure goes by the path, whatever model the body names.
      request.parts.push({ role: 'parameter', text: deployment, pointer: 'path.deployment' })
      return { ...request, model: deployment }
    }
  }
}

const byDeployment = '/openai/deployments/{deployment}'

export const azureOpenai: readonly [Dialect, ...Dialect[]] = [
  azure(openaiChat, '/chat/completions', [`${byDeployment}/chat/completions`, '/openai/v1/chat/completions']),
  azure(openaiCompletions, '/completions', [`${byDeployment}/completions`, '/openai/v1/completions']),
  azure(openaiEmbeddings, '/embeddings', [`${byDeployment}/embeddings`, '/openai/v1/embeddings']),
  azure(openaiResponses, '/responses', ['/openai/responses', '/openai/v1/responses'])
]
