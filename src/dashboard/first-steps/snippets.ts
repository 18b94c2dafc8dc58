/** Programs to copy, one for each SDK and language, with the address of this gateway, a key and a model in them. */

export const languages = { python: 'Python', javascript: 'JavaScript', curl: 'curl' } as const
export type Language = keyof typeof languages

export interface Place {
  /** Where the gateway is reached, without a slash at the end. */
  base: string
  key: string
  model: string
}

export interface Sdk {
  label: string
  /** What has to be installed first, by language. */
  install?: Partial<Record<Language, string>>
  snippets: Partial<Record<Language, (place: Place) => string>>
}

const prompt = 'How do I kill a Python process?'
const quoted = (text: string) => JSON.stringify(text)

function curl(url: string, header: string, body: object): string {
  return `curl -s ${quoted(url)} \\\n  -H ${quoted(header)} -H 'content-type: application/json' \\\n  -d '${JSON.stringify(body)}'`
}

const messages = [{ role: 'user', content: prompt }]

export const sdks = {
  openai: {
    label: 'OpenAI',
    install: { python: 'pip install openai', javascript: 'npm install openai' },
    snippets: {
      python: ({ base, key, model }) => `from openai import OpenAI

client = OpenAI(base_url=${quoted(`${base}/v1`)}, api_key=${quoted(key)})
answer = client.chat.completions.create(
    model=${quoted(model)},
    messages=[{"role": "user", "content": ${quoted(prompt)}}],
)
print(answer.choices[0].message.content)`,
      javascript: ({ base, key, model }) => `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: ${quoted(`${base}/v1`)}, apiKey: ${quoted(key)} })
const answer = await client.chat.completions.create({
  model: ${quoted(model)},
  messages: [{ role: 'user', content: ${quoted(prompt)} }]
})
console.log(answer.choices[0].message.content)`,
      curl: ({ base, key, model }) =>
        curl(`${base}/v1/chat/completions`, `Authorization: Bearer ${key}`, { model, messages })
    }
  },
  responses: {
    label: 'OpenAI Responses',
    install: { python: 'pip install openai', javascript: 'npm install openai' },
    snippets: {
      python: ({ base, key, model }) => `from openai import OpenAI

client = OpenAI(base_url=${quoted(`${base}/v1`)}, api_key=${quoted(key)})
print(client.responses.create(model=${quoted(model)}, input=${quoted(prompt)}).output_text)`,
      javascript: ({ base, key, model }) => `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: ${quoted(`${base}/v1`)}, apiKey: ${quoted(key)} })
const answer = await client.responses.create({ model: ${quoted(model)}, input: ${quoted(prompt)} })
console.log(answer.output_text)`,
      curl: ({ base, key, model }) =>
        curl(`${base}/v1/responses`, `Authorization: Bearer ${key}`, { model, input: prompt })
    }
  },
  anthropic: {
    label: 'Anthropic',
    install: { python: 'pip install anthropic', javascript: 'npm install @anthropic-ai/sdk' },
    snippets: {
      python: ({ base, key, model }) => `from anthropic import Anthropic

client = Anthropic(base_url=${quoted(base)}, api_key=${quoted(key)})
answer = client.messages.create(
    model=${quoted(model)},
    max_tokens=500,
    messages=[{"role": "user", "content": ${quoted(prompt)}}],
)
print(answer.content[0].text)`,
      javascript: ({ base, key, model }) => `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: ${quoted(base)}, apiKey: ${quoted(key)} })
const answer = await client.messages.create({
  model: ${quoted(model)},
  max_tokens: 500,
  messages: [{ role: 'user', content: ${quoted(prompt)} }]
})
console.log(answer.content[0].text)`,
      curl: ({ base, key, model }) =>
        curl(`${base}/v1/messages`, `x-api-key: ${key}`, { model, max_tokens: 500, messages })
    }
  },
  gemini: {
    label: 'Gemini',
    install: { python: 'pip install google-genai', javascript: 'npm install @google/genai' },
    snippets: {
      python: ({ base, key, model }) => `from google import genai
from google.genai import types

client = genai.Client(api_key=${quoted(key)}, http_options=types.HttpOptions(base_url=${quoted(base)}))
answer = client.models.generate_content(model=${quoted(model)}, contents=${quoted(prompt)})
print(answer.text)`,
      javascript: ({ base, key, model }) => `import { GoogleGenAI } from '@google/genai'

const client = new GoogleGenAI({ apiKey: ${quoted(key)}, httpOptions: { baseUrl: ${quoted(base)} } })
const answer = await client.models.generateContent({ model: ${quoted(model)}, contents: ${quoted(prompt)} })
console.log(answer.text)`,
      curl: ({ base, key, model }) =>
        curl(`${base}/v1beta/models/${model}:generateContent`, `x-goog-api-key: ${key}`, {
          contents: [{ role: 'user', parts: [{ text: prompt }] }]
        })
    }
  },
  ollama: {
    label: 'Ollama',
    install: { python: 'pip install ollama', javascript: 'npm install ollama' },
    snippets: {
      python: ({ base, key, model }) => `from ollama import Client

client = Client(${quoted(base)}, headers={"authorization": ${quoted(`Bearer ${key}`)}})
answer = client.chat(${quoted(model)}, messages=[{"role": "user", "content": ${quoted(prompt)}}])
print(answer.message.content)`,
      javascript: ({ base, key, model }) => `import { Ollama } from 'ollama'

const client = new Ollama({ host: ${quoted(base)}, headers: { authorization: ${quoted(`Bearer ${key}`)} } })
const answer = await client.chat({
  model: ${quoted(model)},
  messages: [{ role: 'user', content: ${quoted(prompt)} }]
})
console.log(answer.message.content)`,
      curl: ({ base, key, model }) =>
        curl(`${base}/api/chat`, `Authorization: Bearer ${key}`, { model, messages, stream: false })
    }
  },
  azure: {
    label: 'Azure OpenAI',
    install: { python: 'pip install openai', javascript: 'npm install openai' },
    snippets: {
      python: ({ base, key, model }) => `from openai import AzureOpenAI

client = AzureOpenAI(azure_endpoint=${quoted(base)}, api_key=${quoted(key)}, api_version="2024-10-21")
answer = client.chat.completions.create(
    model=${quoted(model)},
    messages=[{"role": "user", "content": ${quoted(prompt)}}],
)
print(answer.choices[0].message.content)`,
      javascript: ({ base, key, model }) => `import { AzureOpenAI } from 'openai'

const client = new AzureOpenAI({ endpoint: ${quoted(base)}, apiKey: ${quoted(key)}, apiVersion: '2024-10-21' })
const answer = await client.chat.completions.create({
  model: ${quoted(model)},
  messages: [{ role: 'user', content: ${quoted(prompt)} }]
})
console.log(answer.choices[0].message.content)`,
      curl: ({ base, key, model }) =>
        curl(`${base}/openai/deployments/${model}/chat/completions?api-version=2024-10-21`, `api-key: ${key}`, {
          messages
        })
    }
  },
  cohere: {
    label: 'Cohere',
    install: { python: 'pip install cohere', javascript: 'npm install cohere-ai' },
    snippets: {
      python: ({ base, key, model }) => `from cohere import ClientV2

client = ClientV2(api_key=${quoted(key)}, base_url=${quoted(base)})
answer = client.chat(model=${quoted(model)}, messages=[{"role": "user", "content": ${quoted(prompt)}}])
print(answer.message.content[0].text)`,
      javascript: ({ base, key, model }) => `import { CohereClientV2 } from 'cohere-ai'

const client = new CohereClientV2({ environment: ${quoted(base)}, token: ${quoted(key)} })
const answer = await client.chat({ model: ${quoted(model)}, messages: [{ role: 'user', content: ${quoted(prompt)} }] })
console.log(answer.message.content[0].text)`,
      curl: ({ base, key, model }) =>
        curl(`${base}/v2/chat`, `Authorization: Bearer ${key}`, { model, messages, stream: false })
    }
  },
  bedrock: {
    label: 'Amazon Bedrock',
    install: { javascript: 'npm install @aws-sdk/client-bedrock-runtime @smithy/node-http-handler' },
    snippets: {
      javascript: ({
        base,
        key,
        model
      }) => `import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime'
import { NodeHttpHandler } from '@smithy/node-http-handler'

const client = new BedrockRuntimeClient({
  endpoint: ${quoted(base)},
  region: 'us-east-1',
  token: { token: ${quoted(key)} },
  authSchemePreference: ['httpBearerAuth'],
  requestHandler: new NodeHttpHandler()
})
const messages = [{ role: 'user', content: [{ text: ${quoted(prompt)} }] }]
const { output } = await client.send(new ConverseCommand({ modelId: ${quoted(model)}, messages }))
console.log(output.message.content[0].text)`,
      curl: ({ base, key, model }) =>
        curl(`${base}/model/${encodeURIComponent(model)}/converse`, `Authorization: Bearer ${key}`, {
          messages: [{ role: 'user', content: [{ text: prompt }] }]
        })
    }
  },
  vercel: {
    label: 'Vercel AI SDK',
    install: { javascript: 'npm install ai @ai-sdk/openai-compatible' },
    snippets: {
      javascript: ({ base, key, model }) => `import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText } from 'ai'

const gateway = createOpenAICompatible({ name: 'gateway', baseURL: ${quoted(`${base}/v1`)}, apiKey: ${quoted(key)} })
const { text } = await generateText({ model: gateway(${quoted(model)}), prompt: ${quoted(prompt)} })
console.log(text)`
    }
  },
  langchain: {
    label: 'LangChain',
    install: { python: 'pip install langchain-openai', javascript: 'npm install @langchain/openai @langchain/core' },
    snippets: {
      python: ({ base, key, model }) => `from langchain_openai import ChatOpenAI

model = ChatOpenAI(model=${quoted(model)}, base_url=${quoted(`${base}/v1`)}, api_key=${quoted(key)})
print(model.invoke(${quoted(prompt)}).content)`,
      javascript: ({ base, key, model }) => `import { ChatOpenAI } from '@langchain/openai'

const model = new ChatOpenAI({
  model: ${quoted(model)},
  apiKey: ${quoted(key)},
  configuration: { baseURL: ${quoted(`${base}/v1`)} }
})
console.log((await model.invoke(${quoted(prompt)})).content)`
    }
  },
  evaluate: {
    label: 'A verdict alone',
    snippets: {
      python: ({ base, key }) => `import json, urllib.request

request = urllib.request.Request(
    ${quoted(`${base}/api/v1/safety/evaluate`)},
    json.dumps({"input_text": ${quoted(prompt)}}).encode(),
    {"x-api-key": ${quoted(key)}, "content-type": "application/json"},
)
print(json.load(urllib.request.urlopen(request))["evaluation"]["decision"])`,
      javascript: ({ base, key }) => `const answer = await fetch(${quoted(`${base}/api/v1/safety/evaluate`)}, {
  method: 'POST',
  headers: { 'x-api-key': ${quoted(key)}, 'content-type': 'application/json' },
  body: JSON.stringify({ input_text: ${quoted(prompt)} })
})
console.log((await answer.json()).evaluation.decision)`,
      curl: ({ base, key }) => curl(`${base}/api/v1/safety/evaluate`, `X-API-Key: ${key}`, { input_text: prompt })
    }
  }
} as const satisfies Record<string, Sdk>

export type SdkId = keyof typeof sdks
