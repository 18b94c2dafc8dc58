/** The operations of the chat routes for the OpenAPI document, with the fields that the gateway itself reads. */
import type { DialectId } from '../../base/settings.js'
import { named } from '../../edge/doc-names.js'

export const text = { type: 'string' }
const flag = { type: 'boolean' }
export const anything = { type: 'object', additionalProperties: true }
const anyValue = {}
const list = { type: 'array', items: anything }

/** @param properties an asterisk before a name: it is required */
function open(name: string, properties: Record<string, object>): object {
  const required = Object.keys(properties).filter((key) => key.startsWith('*'))
  return named(name, {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key.replace('*', ''), schema])),
    ...(required.length > 0 && { required: required.map((key) => key.slice(1)) }),
    additionalProperties: true
  })
}

const model = { ...text, description: 'Selects the route where several share a path.' }
const metadata = { ...anything, description: 'Its keys count as context where the route’s caller_context lists them.' }
const message = open('ChatMessage', {
  '*role': text,
  content: { anyOf: [text, list, { type: 'null' }], description: 'A text, or parts.' }
})
const messages = { type: 'array', items: message }
const textOrTexts = { anyOf: [text, { type: 'array', items: {} }] }
const stream = { ...flag, description: 'Whether the answer comes in pieces.' }

interface Shape {
  /** Name of the operation in the API's own document. */
  operationId: string
  summary: string
  request: object
  /** Where a request is no JSON: its media type. */
  consumes?: string
  answer: object
  /** The media type of a whole answer. Default: JSON. */
  type?: string
  /** The media type of an answer in pieces; undefined: it always comes whole. */
  pieces?: string
}

const chatCompletion = {
  summary: 'A chat in OpenAI’s shape',
  request: open('ChatCompletionRequest', { '*messages': messages, model, stream, metadata, tools: list }),
  answer: open('ChatCompletion', { '*choices': list, id: text, model: text, usage: anything }),
  pieces: 'text/event-stream'
}
const response = {
  summary: 'A response in the shape of OpenAI’s Responses API',
  request: open('ResponseRequest', {
    input: textOrTexts,
    instructions: { anyOf: [text, { type: 'null' }] },
    model,
    stream,
    metadata,
    tools: list
  }),
  answer: open('ResponseObject', { '*output': list, id: text, model: text, status: text }),
  pieces: 'text/event-stream'
}
const completion = {
  summary: 'A completion in OpenAI’s shape',
  request: open('CompletionRequest', { '*prompt': textOrTexts, model, stream }),
  answer: open('Completion', { '*choices': list, id: text, model: text }),
  pieces: 'text/event-stream'
}
const embedding = {
  summary: 'Embeddings in OpenAI’s shape',
  request: open('EmbeddingRequest', { '*input': textOrTexts, model }),
  answer: open('EmbeddingList', { '*data': list, model: text })
}
const ollamaAnswer = open('OllamaAnswer', { model: text, message: anything, response: text, done: flag })
const geminiAnswer = open('GeminiAnswer', { candidates: list, promptFeedback: anything, usageMetadata: anything })
const geminiRequest = open('GenerateContentRequest', {
  '*contents': list,
  systemInstruction: anything,
  tools: list,
  generationConfig: anything
})

const form = 'multipart/form-data'
const binary = { ...text, format: 'binary' }
const transcript = {
  consumes: form,
  answer: open('Transcript', { '*text': text, segments: list, words: list, usage: anything })
}
const pictures = open('ImagesResponse', { '*data': list, created: { type: 'integer' }, usage: anything })

const converseRequest = open('ConverseRequest', {
  '*messages': messages,
  system: list,
  toolConfig: anything,
  requestMetadata: metadata
})
const converseAnswer = open('ConverseAnswer', { '*output': anything, '*stopReason': text, usage: anything })

const anthropicMessage = open('Message', {
  '*content': list,
  id: text,
  role: text,
  stop_reason: { anyOf: [text, { type: 'null' }] }
})
const invokeRequest = open('InvokeModelRequest', {
  '*anthropic_version': text,
  '*messages': messages,
  system: textOrTexts,
  tools: list
})

/** By the end of the operation's path, as `Dialect.suffix`. */
export const shapes: Readonly<Record<Exclude<DialectId, 'openai-realtime'>, Readonly<Record<string, Shape>>>> = {
  'openai-chat': { '': { operationId: 'createChatCompletion', ...chatCompletion } },
  'openai-responses': { '': { operationId: 'createResponse', ...response } },
  'openai-completions': { '': { operationId: 'createCompletion', ...completion } },
  'openai-embeddings': { '': { operationId: 'createEmbedding', ...embedding } },
  'openai-images': {
    '/generations': {
      operationId: 'createImage',
      summary: 'Pictures in OpenAI’s shape: what is said is evaluated, what they show is not',
      request: open('ImageRequest', { '*prompt': text, model, n: { type: 'integer' }, size: text }),
      answer: pictures
    },
    '/edits': {
      operationId: 'createImageEdit',
      summary: 'Edited pictures in OpenAI’s shape: what is said is evaluated, what they show is not',
      request: open('ImageEditRequest', {
        '*prompt': text,
        image: binary,
        'image[]': { type: 'array', items: binary },
        mask: binary,
        model
      }),
      consumes: form,
      answer: pictures
    }
  },
  'openai-speech': {
    '': {
      operationId: 'createSpeech',
      summary: 'Speech in OpenAI’s shape: the text is evaluated, its sound is not',
      request: open('SpeechRequest', { '*input': text, instructions: text, model, voice: anyValue }),
      answer: { type: 'string', format: 'binary' },
      type: 'audio/*',
      pieces: 'text/event-stream'
    }
  },
  'openai-transcriptions': {
    '/transcriptions': {
      ...transcript,
      operationId: 'createTranscription',
      summary: 'A transcription in OpenAI’s shape: its texts are evaluated, its sound is not',
      request: open('TranscriptionRequest', {
        '*file': binary,
        model,
        prompt: text,
        response_format: text,
        stream: text
      }),
      pieces: 'text/event-stream'
    },
    '/translations': {
      ...transcript,
      operationId: 'createTranslation',
      summary: 'A translation in OpenAI’s shape: its texts are evaluated, its sound is not',
      request: open('TranslationRequest', { '*file': binary, model, prompt: text, response_format: text })
    }
  },
  'azure-openai': {
    '/chat/completions': { operationId: 'createAzureChatCompletion', ...chatCompletion },
    '/completions': { operationId: 'createAzureCompletion', ...completion },
    '/embeddings': { operationId: 'createAzureEmbedding', ...embedding },
    '/responses': { operationId: 'createAzureResponse', ...response }
  },
  anthropic: {
    '/messages': {
      operationId: 'createMessage',
      summary: 'A chat in Anthropic’s shape',
      request: open('MessageRequest', {
        '*messages': messages,
        model,
        system: textOrTexts,
        stream,
        metadata,
        tools: list
      }),
      answer: anthropicMessage,
      pieces: 'text/event-stream'
    },
    '/count_tokens': {
      operationId: 'countMessageTokens',
      summary: 'The tokens of a chat in Anthropic’s shape',
      request: open('CountMessageTokensRequest', { '*messages': messages, model, system: textOrTexts, tools: list }),
      answer: open('MessageTokenCount', { '*input_tokens': { type: 'integer' } })
    }
  },
  gemini: {
    ':generateContent': {
      operationId: 'generateContent',
      summary: 'A chat in Gemini’s shape',
      request: geminiRequest,
      answer: geminiAnswer
    },
    ':streamGenerateContent': {
      operationId: 'streamGenerateContent',
      summary: 'A chat in Gemini’s shape, in pieces: events with alt=sse, else one array',
      request: geminiRequest,
      answer: { type: 'array', items: geminiAnswer },
      pieces: 'text/event-stream'
    },
    ':countTokens': {
      operationId: 'countTokens',
      summary: 'The tokens of a chat in Gemini’s shape',
      request: open('CountTokensRequest', { contents: list, generateContentRequest: anything }),
      answer: open('TokenCount', { '*totalTokens': { type: 'integer' } })
    },
    ':embedContent': {
      operationId: 'embedContent',
      summary: 'An embedding in Gemini’s shape',
      request: open('EmbedContentRequest', { '*content': anything }),
      answer: open('ContentEmbedding', { '*embedding': anything })
    },
    ':batchEmbedContents': {
      operationId: 'batchEmbedContents',
      summary: 'Several embeddings in Gemini’s shape',
      request: open('BatchEmbedContentsRequest', { '*requests': list }),
      answer: open('ContentEmbeddings', { '*embeddings': list })
    }
  },
  ollama: {
    '/chat': {
      operationId: 'ollamaChat',
      summary: 'A chat in Ollama’s shape; in pieces unless stream is false',
      request: open('OllamaChatRequest', { '*messages': messages, model, stream, tools: list }),
      answer: ollamaAnswer,
      pieces: 'application/x-ndjson'
    },
    '/generate': {
      operationId: 'ollamaGenerate',
      summary: 'A completion in Ollama’s shape; in pieces unless stream is false',
      request: open('OllamaGenerateRequest', { prompt: text, model, system: text, suffix: text, stream }),
      answer: ollamaAnswer,
      pieces: 'application/x-ndjson'
    },
    '/embed': {
      operationId: 'ollamaEmbed',
      summary: 'Embeddings in Ollama’s shape',
      request: open('OllamaEmbedRequest', { '*input': textOrTexts, model }),
      answer: open('OllamaEmbeddings', { '*embeddings': { type: 'array', items: {} } })
    },
    '/embeddings': {
      operationId: 'ollamaEmbeddings',
      summary: 'An embedding in Ollama’s older shape',
      request: open('OllamaEmbeddingsRequest', { '*prompt': text, model }),
      answer: open('OllamaEmbedding', { '*embedding': { type: 'array', items: { type: 'number' } } })
    }
  },
  cohere: {
    '': {
      operationId: 'cohereChat',
      summary: 'A chat in Cohere’s shape',
      request: open('CohereChatRequest', { '*messages': messages, model, stream, documents: list, tools: list }),
      answer: open('CohereChat', { '*message': anything, id: text, finish_reason: text, usage: anything }),
      pieces: 'text/event-stream'
    }
  },
  bedrock: {
    '/converse': {
      operationId: 'converse',
      summary: 'A chat in the shape of Amazon Bedrock’s Converse',
      request: converseRequest,
      answer: converseAnswer
    },
    '/converse-stream': {
      operationId: 'converseStream',
      summary: 'A chat in the shape of Amazon Bedrock’s Converse, in pieces',
      request: converseRequest,
      answer: converseAnswer,
      pieces: 'application/vnd.amazon.eventstream'
    },
    '/invoke': {
      operationId: 'invokeModel',
      summary: 'Amazon Bedrock’s InvokeModel with a chat in Anthropic’s shape',
      request: invokeRequest,
      answer: anthropicMessage
    },
    '/invoke-with-response-stream': {
      operationId: 'invokeModelWithResponseStream',
      summary: 'Amazon Bedrock’s InvokeModel with a chat in Anthropic’s shape, in pieces',
      request: invokeRequest,
      answer: anthropicMessage,
      pieces: 'application/vnd.amazon.eventstream'
    }
  }
}
