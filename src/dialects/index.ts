/** Every dialect with its operations. A literal list: the compiler holds it equal to `dialectIds`. */
import type { DialectId } from '../base/settings.js'
import { anthropicCount, anthropicMessages } from './anthropic.js'
import { azureOpenai } from './azure-openai.js'
import { bedrockConverse, bedrockConverseStream, bedrockInvoke, bedrockInvokeStream } from './bedrock.js'
import { cohereChat } from './cohere.js'
import type { Dialect } from './dialect.js'
import { geminiBatchEmbed, geminiCount, geminiEmbed, geminiGenerate, geminiStream } from './gemini.js'
import { ollamaChat, ollamaEmbed, ollamaEmbeddings, ollamaGenerate } from './ollama.js'
import { openaiChat } from './openai-chat.js'
import { openaiCompletions } from './openai-completions.js'
import { openaiEmbeddings } from './openai-embeddings.js'
import { openaiImageEdits, openaiImages } from './openai-images.js'
import { azureRealtime, openaiRealtime } from './openai-realtime.js'
import { openaiResponses } from './openai-responses.js'
import { openaiSpeech } from './openai-speech.js'
import { openaiTranscriptions, openaiTranslations } from './openai-transcriptions.js'

export const dialects: Readonly<Record<DialectId, readonly [Dialect, ...Dialect[]]>> = {
  'openai-chat': [openaiChat],
  'openai-responses': [openaiResponses],
  'openai-realtime': [openaiRealtime, ...azureRealtime],
  'openai-completions': [openaiCompletions],
  'openai-embeddings': [openaiEmbeddings],
  'openai-images': [openaiImages, openaiImageEdits],
  'openai-speech': [openaiSpeech],
  'openai-transcriptions': [openaiTranscriptions, openaiTranslations],
  'azure-openai': azureOpenai,
  anthropic: [anthropicMessages, anthropicCount],
  gemini: [geminiGenerate, geminiStream, geminiCount, geminiEmbed, geminiBatchEmbed],
  ollama: [ollamaChat, ollamaGenerate, ollamaEmbed, ollamaEmbeddings],
  cohere: [cohereChat],
  bedrock: [bedrockConverse, bedrockConverseStream, bedrockInvoke, bedrockInvokeStream]
}

/** The operation that a path on the upstream names; undefined where the dialect has several and it names none of them. */
export function operationAt(id: DialectId, upstreamPath: string): Dialect | undefined {
  let best: Dialect | undefined
  for (const operation of dialects[id]) {
    if (!upstreamPath.endsWith(operation.suffix)) continue
    if (best === undefined || operation.suffix.length > best.suffix.length) best = operation
  }
  return best
}
