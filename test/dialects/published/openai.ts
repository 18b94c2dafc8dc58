/** Requests of OpenAI's operations, by their published shapes. */
import { bytes, combine, type Fields, messages, picture, schema } from './combine.js'

const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"city":"Rome"}' } }

const chatAxes: Fields[][] = [
  [
    messages(),
    messages({ role: 'system', content: 'Be brief.' }),
    messages({ role: 'developer', content: [{ type: 'text', text: 'Be brief.' }], name: 'ops' })
  ],
  [
    messages(),
    messages({ role: 'user', content: 'Hello' }, { role: 'assistant', content: 'Hi, what can I do?' }),
    messages(
      { role: 'user', content: 'What is it like there?' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: '{"weather":"fine"}' }
    ),
    messages(
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'I would rather not.' }], reasoning_content: 'Hm.' },
      { role: 'function', name: 'look', content: 'fine' }
    )
  ],
  [
    messages({ role: 'user', content: 'And tomorrow?' }),
    messages({
      role: 'user',
      name: 'jo',
      content: [
        { type: 'text', text: 'One' },
        { type: 'text', text: 'Two' }
      ]
    }),
    messages({
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: picture, detail: 'low' } },
        { type: 'image_url', image_url: { url: 'https://pictures.example/a.png' } }
      ]
    }),
    messages({
      role: 'user',
      content: [
        { type: 'input_audio', input_audio: { data: bytes, format: 'wav' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: bytes } }
      ]
    })
  ],
  [
    {},
    {
      tools: [
        { type: 'function', function: { name: 'look', description: 'Looks.', strict: true, parameters: schema } }
      ],
      tool_choice: { type: 'function', function: { name: 'look' } }
    },
    {
      tools: [
        {
          type: 'custom',
          custom: { name: 'free', format: { type: 'grammar', grammar: { definition: 'start: "a"', syntax: 'lark' } } }
        }
      ]
    }
  ],
  [
    { metadata: { team: 'blue' }, user: 'u-1', stop: ['END'] },
    { response_format: { type: 'json_schema', json_schema: { name: 'out', schema } }, logit_bias: { '50256': -100 } },
    {
      prediction: { type: 'content', content: 'As before' },
      web_search_options: { user_location: { approximate: { city: 'Rome' } } }
    }
  ]
]
export const chats = (count: number) => combine(count, [{ model: 'gpt-5' }], ...chatAxes)

const items = (...list: Fields[]) => ({ input: list })
export const responses = (count: number) =>
  combine(
    count,
    [{ model: 'gpt-5' }, { model: 'gpt-5', instructions: 'Be brief.' }],
    [
      items(),
      items(
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be kind.' }] },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Thinking.' }] },
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"city":"Rome"}' },
        { type: 'function_call_output', call_id: 'call_1', output: '{"weather":"fine"}' }
      ),
      items(
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [
            {
              type: 'output_text',
              text: 'Hi.',
              annotations: [{ type: 'url_citation', url: 'https://a.example', title: 'A' }]
            }
          ]
        },
        { type: 'mcp_call', id: 'mcp_1', server_label: 'docs', name: 'read', arguments: '{}', output: 'found' },
        {
          type: 'file_search_call',
          id: 'fs_1',
          queries: ['weather'],
          results: [{ text: 'It was fine', filename: 'a.txt' }]
        }
      ),
      items(
        { type: 'custom_tool_call', call_id: 'c', name: 'free', input: 'anything' },
        { type: 'custom_tool_call_output', call_id: 'c', output: 'done' }
      )
    ],
    [
      items({ role: 'user', content: 'And tomorrow?' }),
      items({
        role: 'user',
        content: [
          { type: 'input_text', text: 'One' },
          { type: 'input_image', image_url: picture, detail: 'auto' }
        ]
      }),
      items({ role: 'user', content: [{ type: 'input_file', filename: 'a.pdf', file_url: 'https://files.example/a' }] })
    ],
    [
      {},
      {
        tools: [
          { type: 'function', name: 'look', description: 'Looks.', parameters: schema },
          { type: 'mcp', server_label: 'docs', server_url: 'https://mcp.example', headers: { 'x-a': 'b' } }
        ]
      },
      {
        tools: [{ type: 'web_search', user_location: { type: 'approximate', city: 'Rome' } }],
        text: { format: { type: 'json_schema', name: 'out', schema } }
      }
    ],
    [
      { metadata: { team: 'blue' }, safety_identifier: 'u' },
      {
        prompt: { id: 'pmpt_1', variables: { city: 'Rome', more: { type: 'input_text', text: 'two' } } },
        conversation: 'conv_1'
      }
    ]
  )

const options = [{}, { user: 'u-1' }, { metadata: { team: 'blue' } }, { extra_body: { note: 'as it was' } }]
export const completions = (count: number) =>
  combine(
    count,
    [{ model: 'm' }, { model: 'm', suffix: 'The end.' }, { model: 'm', echo: true }],
    [{ prompt: 'Once upon a time' }, { prompt: ['One', 'Two'] }, { prompt: ['Three'] }],
    [{}, { stop: 'END' }, { stop: ['A', 'B'] }],
    options
  )
export const embeddings = (count: number) =>
  combine(
    count,
    [{ model: 'e' }, { model: 'e', dimensions: 8 }, { model: 'e', encoding_format: 'base64' }],
    [
      { input: 'One' },
      { input: ['One', 'Two'] },
      { input: ['Three', 'Four', 'Five'] },
      { messages: [{ role: 'user', content: 'Six' }] }
    ],
    options,
    [{}, { truncate_prompt: 'no' }, { note: ['x'] }]
  )

const said = (type: string, text: string) => [{ type, text }]
export const realtime = (count: number) =>
  combine(
    Math.floor(count / 3),
    [
      { type: 'conversation.item.create' },
      { type: 'conversation.item.create', event_id: 'e_1', previous_item_id: 'item_0' }
    ],
    [
      { item: { type: 'message', role: 'user', content: said('input_text', 'And tomorrow?') } },
      { item: { id: 'item_1', type: 'message', role: 'system', content: said('input_text', 'Be brief.') } },
      { item: { type: 'message', role: 'assistant', status: 'completed', content: said('output_text', 'Hi.') } },
      {
        item: { type: 'message', role: 'user', content: [{ type: 'input_audio', audio: bytes, transcript: 'Hello' }] }
      },
      {
        item: { type: 'message', role: 'user', content: [{ type: 'input_image', image_url: picture, detail: 'low' }] }
      },
      { item: { type: 'function_call', call_id: 'c', name: 'look', arguments: '{"city":"Rome"}' } },
      { item: { type: 'function_call_output', call_id: 'c', output: '{"weather":"fine"}' } },
      { item: { type: 'mcp_approval_response', id: 'm', approval_request_id: 'a', approve: true, reason: 'fine' } },
      { item: { type: 'something_new', note: ['as it was'] } }
    ],
    [{}, { note: 'as it was' }]
  ).concat(
    ...['session', 'response'].map((name) =>
      combine(
        Math.ceil(count / 3),
        [
          { instructions: 'Be brief.' },
          { prompt: { id: 'p', variables: { city: 'Rome' } } },
          { input: [{ type: 'message', role: 'user', content: said('input_text', 'Hello') }] }
        ],
        [
          {},
          {
            tools: [{ type: 'function', name: 'look', description: 'Looks.', parameters: schema }],
            tool_choice: { type: 'function', name: 'look' }
          },
          { tools: [{ type: 'mcp', server_label: 'docs', server_url: 'https://mcp.example', headers: { 'x-a': 'b' } }] }
        ],
        [
          { metadata: { team: 'blue' } },
          {
            audio: {
              input: { transcription: { model: 'whisper-1', language: 'en', prompt: 'Names' } },
              output: { voice: 'marin' }
            }
          }
        ],
        [{ output_modalities: ['text'] }, { tracing: { workflow_name: 'w', group_id: 'g', metadata: { a: 'b' } } }]
      ).map((fields) => ({ type: name === 'session' ? 'session.update' : 'response.create', [name]: fields }))
    ),
    [
      { type: 'input_audio_buffer.append', event_id: 'e_2', audio: bytes },
      { type: 'conversation.item.truncate', item_id: 'item_1', content_index: 0 },
      { type: 'something.new', deep: [{ down: 'here' }] }
    ]
  )

export const images = (count: number) =>
  combine(
    count,
    [{ prompt: 'A red boat' }, { prompt: 'A red boat', model: 'gpt-image-1' }, { prompt: 'A boat', model: 'dall-e-3' }],
    [{}, { n: 2 }, { n: 1, user: 'user-1' }],
    [{}, { size: '1024x1024' }, { size: 'auto', quality: 'high' }],
    [{}, { background: 'transparent', output_format: 'png' }, { response_format: 'b64_json' }, { style: 'vivid' }]
  )

export const speech = (count: number) =>
  combine(
    count,
    [{ model: 'gpt-4o-mini-tts' }, { model: 'tts-1' }, { model: 'kokoro' }],
    [{ input: 'Good morning' }, { input: 'Good evening' }, { input: 'Good night', instructions: 'Softly' }],
    [{ voice: 'alloy' }, { voice: 'af_sky' }, { voice: { id: 'voice_1' } }],
    [{}, { response_format: 'wav' }, { response_format: 'mp3', speed: 1.5 }, { stream_format: 'audio' }]
  )
