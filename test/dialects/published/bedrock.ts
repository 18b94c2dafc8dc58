/** Requests of Amazon Bedrock's Converse. */
import { bytes, combine, messages, schema } from './combine.js'

const user = (...content: object[]) => ({ role: 'user', content })

export const bedrock = (count: number) =>
  combine(
    count,
    [
      {},
      { system: [{ text: 'Be brief.' }] },
      { system: [{ text: 'Be kind.' }, { cachePoint: { type: 'default' } }], requestMetadata: { team: 'blue' } }
    ],
    [
      messages(),
      messages(user({ text: 'Hello' }), { role: 'assistant', content: [{ text: 'Hi.' }] }),
      messages(
        user({ text: 'Look' }),
        {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'Hm.' } } },
            { toolUse: { toolUseId: 'tooluse_1', name: 'look', input: { city: 'Rome' } } }
          ]
        },
        user({
          toolResult: {
            toolUseId: 'tooluse_1',
            content: [{ text: 'fine' }, { json: { sky: 'blue' } }],
            status: 'success'
          }
        })
      )
    ],
    [
      messages(user({ text: 'And tomorrow?' })),
      messages(user({ text: 'See' }, { image: { format: 'png', source: { bytes } } })),
      messages(user({ guardContent: { text: { text: 'Read', qualifiers: ['query'] } } })),
      messages(user({ document: { format: 'txt', name: 'notes', source: { text: 'A note' } } }, { text: 'Sum it up' }))
    ],
    [
      {},
      {
        toolConfig: {
          tools: [{ toolSpec: { name: 'look', description: 'Looks.', inputSchema: { json: schema } } }],
          toolChoice: { tool: { name: 'look' } }
        }
      }
    ],
    [
      { inferenceConfig: { maxTokens: 9, stopSequences: ['END'] } },
      { additionalModelRequestFields: { note: 'x' }, performanceConfig: { latency: 'optimized' } }
    ]
  )
