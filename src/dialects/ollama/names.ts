/** Field names and enumerated values of Ollama's API and of JSON Schema: a closed set of words that carry no message. */
export const names: ReadonlySet<string> = new Set(
  `model messages role content thinking images tool_calls tool_name tool_call_id function name arguments index id type
  prompt suffix system template context raw stream format options keep_alive think tools logprobs top_logprobs token logprob bytes
  input truncate dimensions embeddings embedding width height steps image completed total
  numa num_ctx num_batch num_gpu main_gpu low_vram f16_kv logits_all vocab_only use_mmap use_mlock embedding_only num_thread
  num_keep seed num_predict top_k top_p min_p tfs_z typical_p repeat_last_n temperature repeat_penalty presence_penalty
  frequency_penalty mirostat mirostat_tau mirostat_eta penalize_newline stop
  user assistant tool json high medium low max
  message response created_at done done_reason length load unload total_duration load_duration prompt_eval_count
  prompt_eval_duration eval_count eval_duration remote_model remote_host error
  parameters properties required items enum const default title description additionalProperties anyOf oneOf allOf not
  minimum maximum minLength maxLength minItems maxItems pattern string number integer boolean array object null $schema $defs
  $ref`.split(/\s+/)
)
