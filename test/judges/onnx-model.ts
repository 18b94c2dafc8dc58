/**
 * A whole text classifier, small enough to be written down: two outputs, the largest embedding of any token for each. The
 * bytes are ONNX's protobuf (onnx.proto3), written field by field.
 */

/** Embeddings: [benign, attack] of each word. */
const words: [string, number, number][] = [
  ['[UNK]', 0, -4],
  ['[CLS]', 0, -4],
  ['[SEP]', 0, -4],
  ['hello', 3, -4],
  ['ready', 3, -4],
  ['ignore', 0, 4],
  ['maybe', 0, 0],
  ['##d', 0, -4]
]

/** What Hugging Face's `tokenizer.json` says of a lower-case WordPiece tokenizer with [CLS] and [SEP]. */
export function tokenizerJson(): string {
  const special = (content: string) => ({ SpecialToken: { id: content, type_id: 0 } })
  return JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: ['[UNK]', '[CLS]', '[SEP]'].map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true
    })),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [special('[CLS]'), { Sequence: { id: 'A', type_id: 0 } }, special('[SEP]')],
      pair: [special('[CLS]'), { Sequence: { id: 'A', type_id: 0 } }, special('[SEP]')],
      special_tokens: {
        '[CLS]': { id: '[CLS]', ids: [1], tokens: ['[CLS]'] },
        '[SEP]': { id: '[SEP]', ids: [2], tokens: ['[SEP]'] }
      }
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(words.map(([word], id) => [word, id]))
    }
  })
}

/** @param inputs names of the inputs, of which only `input_ids` is looked at */
export function onnxModel(inputs: readonly string[] = ['input_ids', 'attention_mask', 'token_type_ids']): Buffer {
  const float = 1
  const int64 = 7
  const embeddings = Buffer.from(Float32Array.from(words.flatMap(([, benign, attack]) => [benign, attack])).buffer)
  const table = message(
    varint(1, words.length),
    varint(1, 2),
    varint(2, float),
    bytes(8, 'embeddings'),
    bytes(9, embeddings)
  )
  const gather = message(bytes(1, 'embeddings'), bytes(1, 'input_ids'), bytes(2, 'embedded'), bytes(4, 'Gather'))
  const axes = message(bytes(1, 'axes'), varint(8, 1), varint(20, 7))
  const keep = message(bytes(1, 'keepdims'), varint(3, 0), varint(20, 2))
  const largest = message(
    bytes(1, 'embedded'),
    bytes(2, 'logits'),
    bytes(4, 'ReduceMax'),
    bytes(5, axes),
    bytes(5, keep)
  )
  const graph = message(
    bytes(1, gather),
    bytes(1, largest),
    bytes(2, 'tiny'),
    bytes(5, table),
    ...inputs.map((name) => bytes(11, valueInfo(name, int64, ['batch', 'sequence']))),
    bytes(12, valueInfo('logits', float, ['batch', 2]))
  )
  return message(varint(1, 8), bytes(7, graph), bytes(8, message(bytes(1, ''), varint(2, 13))))
}

function valueInfo(name: string, type: number, dims: readonly (string | number)[]): Buffer {
  const shape = message(...dims.map((dim) => bytes(1, typeof dim === 'string' ? bytes(2, dim) : varint(1, dim))))
  return message(bytes(1, name), bytes(2, bytes(1, message(varint(1, type), bytes(2, shape)))))
}

function message(...fields: Buffer[]): Buffer {
  return Buffer.concat(fields)
}

function varint(field: number, value: number): Buffer {
  return Buffer.concat([base128(field << 3), base128(value)])
}

function bytes(field: number, value: string | Buffer): Buffer {
  const content = Buffer.from(value)
  return Buffer.concat([base128((field << 3) | 2), base128(content.length), content])
}

function base128(value: number): Buffer {
  const out: number[] = []
  let rest = value
  while (rest > 127) {
    out.push((rest & 127) | 128)
    rest >>>= 7
  }
  return Buffer.from([...out, rest])
}
