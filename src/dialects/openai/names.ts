/**
 * Field names and enumerated values of the chat completions API and of JSON Schema. They are read by name and are not
 * judged as text: a closed set of words cannot carry a message, and judging thousands of them would cost more than the chat.
 */
export const names: ReadonlySet<string> = new Set(
  `messages model role content name tool_calls tool_call_id function_call function arguments id index type text refusal
  image_url input_audio file file_id file_data filename url detail data format image audio video video_url audio_url
  tools tool_choice functions parameters strict response_format json_schema schema description
  properties required items enum const default title additionalProperties anyOf oneOf allOf not minimum maximum
  minLength maxLength minItems maxItems pattern string number integer boolean array object null $schema $defs $ref
  stream stream_options include_usage include_obfuscation temperature top_p n stop max_tokens max_completion_tokens
  presence_penalty frequency_penalty logit_bias logprobs top_logprobs user safety_identifier prompt_cache_key metadata seed store
  parallel_tool_calls reasoning_effort verbosity modalities prediction service_tier web_search_options
  top_k min_p repetition_penalty chat_template_kwargs
  system developer assistant tool auto none json_object custom input low medium high wav mp3
  choices message delta finish_reason created usage prompt_tokens completion_tokens total_tokens
  prompt_tokens_details completion_tokens_details cached_tokens audio_tokens reasoning_tokens
  accepted_prediction_tokens rejected_prediction_tokens system_fingerprint reasoning_content reasoning
  annotations url_citation start_index end_index transcript expires_at token bytes logprob
  chat.completion chat.completion.chunk length tool_calls content_filter error code param request_id innererror
  prompt_filter_results content_filter_results prompt_index filtered severity detected
  timings prompt_n prompt_ms predicted_n predicted_ms`.split(/\s+/)
)
