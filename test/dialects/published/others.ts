/** Requests of Anthropic's, Google's, Ollama's and Cohere's APIs, by their published shapes. */
import { bytes, combine, type Fields, messages, picture, schema } from './combine.js'

export const anthropic = (count: number) =>
  combine(
    count,
    [
      { model: 'claude', max_tokens: 9 },
      { model: 'claude', max_tokens: 9, system: 'Be brief.' },
      {
        model: 'claude',
        max_tokens: 9,
        system: [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } }]
      }
    ],
    [
      messages(),
      messages({ role: 'user', content: 'Hello' }, { role: 'assistant', content: 'Hi.' }),
      messages(
        { role: 'user', content: 'Look' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: '' },
            { type: 'tool_use', id: 'tu_1', name: 'look', input: { city: 'Rome' } }
          ]
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'tu_1', content: [{ type: 'text', text: 'fine' }] }]
        }
      ),
      messages(
        { role: 'user', content: 'Search' },
        {
          role: 'assistant',
          content: [
            { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'weather' } },
            {
              type: 'text',
              text: 'Found',
              citations: [
                { type: 'web_search_result_location', url: 'https://a.example', title: 'A', cited_text: 'fine' }
              ]
            }
          ]
        }
      )
    ],
    [
      messages({ role: 'user', content: 'And tomorrow?' }),
      messages({
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: bytes } }
        ]
      }),
      messages({
        role: 'user',
        content: [
          {
            type: 'document',
            title: 'T',
            context: 'C',
            source: { type: 'text', media_type: 'text/plain', data: 'Long ago' }
          }
        ]
      }),
      messages({
        role: 'user',
        content: [
          { type: 'search_result', source: 'https://a.example', title: 'A', content: [{ type: 'text', text: 'fine' }] }
        ]
      })
    ],
    [
      {},
      {
        tools: [{ name: 'look', description: 'Looks.', input_schema: schema }],
        tool_choice: { type: 'tool', name: 'look' }
      }
    ],
    [{ metadata: { user_id: 'u-1' } }, { stop_sequences: ['END'] }]
  )

const contents = (...list: Fields[]) => ({ contents: list })
export const gemini = (count: number) =>
  combine(
    count,
    [
      {},
      { systemInstruction: { parts: [{ text: 'Be brief.' }] } },
      { system_instruction: { role: 'system', parts: [{ text: 'Be kind.' }] } }
    ],
    [
      contents(),
      contents(
        { role: 'user', parts: [{ text: 'Hello' }] },
        { role: 'model', parts: [{ text: 'Hi.', thought: true }] }
      ),
      contents(
        { role: 'model', parts: [{ functionCall: { name: 'look', args: { city: 'Rome' } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'look', response: { weather: 'fine' } } }] }
      ),
      contents({
        role: 'model',
        parts: [
          { executableCode: { language: 'PYTHON', code: 'print(1)' } },
          { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } }
        ]
      })
    ],
    [
      contents({ role: 'user', parts: [{ text: 'And tomorrow?' }] }),
      contents({ parts: [{ text: 'See' }, { inlineData: { mimeType: 'image/png', data: bytes } }] }),
      contents({ role: 'user', parts: [{ fileData: { mimeType: 'video/mp4', fileUri: 'https://files.example/a' } }] })
    ],
    [
      {},
      {
        tools: [{ functionDeclarations: [{ name: 'look', description: 'Looks.', parameters: schema }] }],
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } }
      }
    ],
    [
      { generationConfig: { stopSequences: ['END'], responseSchema: schema } },
      { labels: { team: 'blue' }, safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }] }
    ]
  )

export const ollama = (count: number) =>
  combine(
    count,
    [{ model: 'llama3.2' }, { model: 'llama3.2', keep_alive: '5m' }, { model: 'llama3.2', format: schema }],
    [
      messages(),
      messages({ role: 'system', content: 'Be brief.' }),
      messages({ role: 'user', content: 'Hello' }, { role: 'assistant', content: 'Hi.', thinking: 'Hm.' })
    ],
    [
      messages(),
      messages(
        { role: 'assistant', content: '', tool_calls: [{ function: { name: 'look', arguments: { city: 'Rome' } } }] },
        { role: 'tool', tool_name: 'look', content: 'fine' }
      )
    ],
    [messages({ role: 'user', content: 'And tomorrow?' }), messages({ role: 'user', content: 'See', images: [bytes] })],
    [{}, { tools: [{ type: 'function', function: { name: 'look', description: 'Looks.', parameters: schema } }] }],
    [{}, { options: { stop: ['END'], num_ctx: 10 } }]
  )
export const generate = (count: number) =>
  combine(
    count,
    [
      { model: 'l', prompt: 'Once' },
      { model: 'l', prompt: 'Once', suffix: 'end' }
    ],
    [{}, { system: 'Be brief.' }, { system: 'Be kind.', template: '{{ .Prompt }}' }],
    [{}, { images: [bytes] }, { format: schema }],
    [{}, { options: { stop: ['END'] } }]
  )

export const cohere = (count: number) =>
  combine(
    count,
    [{ model: 'command-a' }, { model: 'command-a', response_format: { type: 'json_object', json_schema: schema } }],
    [
      messages(),
      messages({ role: 'system', content: 'Be brief.' }),
      messages(
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.' }] }
      )
    ],
    [
      messages(),
      messages(
        {
          role: 'assistant',
          tool_plan: 'I will look.',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"city":"Rome"}' } }]
        },
        {
          role: 'tool',
          tool_call_id: 'c1',
          content: [{ type: 'document', document: { id: 'd1', data: { weather: 'fine' } } }]
        }
      ),
      messages({ role: 'tool', tool_call_id: 'c1', content: 'fine' })
    ],
    [
      messages({ role: 'user', content: 'And tomorrow?' }),
      messages({
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: picture, detail: 'low' } }
        ]
      })
    ],
    [
      {},
      { documents: ['A text.', { id: 'd2', data: { title: 'T', snippet: 'Found.' } }] },
      { tools: [{ type: 'function', function: { name: 'look', description: 'Looks.', parameters: schema } }] }
    ],
    [{}, { stop_sequences: ['END'], safety_mode: 'STRICT', citation_options: { mode: 'ACCURATE' } }]
  )
