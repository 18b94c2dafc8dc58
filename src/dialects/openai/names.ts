/**
 * Field names and enumerated values of OpenAI's APIs (chat completions, Responses, completions, embeddings), of what Azure
 * and common servers add to them, and of JSON Schema. They are read by name and are not
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
  timings prompt_n prompt_ms predicted_n predicted_ms
  input instructions output item item_id output_index content_index summary_index sequence_number response part
  item_reference previous_response_id conversation include truncation background reasoning effort summary generate_summary
  max_output_tokens max_tool_calls prompt variables version prompt_cache_retention context_management
  response.created response.queued response.in_progress response.completed response.incomplete response.failed
  response.cancelled response.output_item.added response.output_item.done response.content_part.added
  response.content_part.done response.output_text.delta response.output_text.done response.output_text.annotation.added
  response.refusal.delta response.refusal.done response.function_call_arguments.delta
  response.function_call_arguments.done response.custom_tool_call_input.delta response.custom_tool_call_input.done
  response.mcp_call_arguments.delta response.mcp_call_arguments.done response.mcp_call.in_progress
  response.mcp_call.completed response.mcp_call.failed response.mcp_list_tools.in_progress
  response.mcp_list_tools.completed response.mcp_list_tools.failed response.reasoning_text.delta
  response.reasoning_text.done response.reasoning_summary_part.added response.reasoning_summary_part.done
  response.reasoning_summary_text.delta response.reasoning_summary_text.done response.file_search_call.in_progress
  response.file_search_call.searching response.file_search_call.completed response.web_search_call.in_progress
  response.web_search_call.searching response.web_search_call.completed response.code_interpreter_call.in_progress
  response.code_interpreter_call.interpreting response.code_interpreter_call.completed
  response.code_interpreter_call_code.delta response.code_interpreter_call_code.done
  response.image_generation_call.in_progress response.image_generation_call.generating
  response.image_generation_call.partial_image response.image_generation_call.completed
  response.audio.delta response.audio.done response.audio.transcript.delta response.audio.transcript.done
  input_text output_text input_image input_file summary_text reasoning_text encrypted_content status completed
  file mime_type filename image image[] mask input_fidelity language timestamp_granularities[] include[]
  verbose_json diarized_json srt vtt segment word segments words start end speaker seek avg_logprob compression_ratio
  no_speech_prob duration task transcribe translate seconds lines transcript.text.delta transcript.text.segment
  transcript.text.done segment_id speech.audio.delta speech.audio.done
  size quality hd standard style vivid natural background opaque transparent output_format output_compression png jpeg webp
  moderation partial_images revised_prompt b64_json voice speed stream_format sse alloy opus aac flac pcm
  in_progress incomplete failed cancelled queued searching interpreting generating incomplete_details created_at
  completed_at max_output_tokens input_tokens output_tokens input_tokens_details output_tokens_details
  function_call_output call_id custom_tool_call custom_tool_call_output file_search_call web_search_call computer_call
  computer_call_output computer_screenshot code_interpreter_call image_generation_call local_shell_call
  local_shell_call_output shell_call shell_call_output apply_patch_call apply_patch_call_output mcp_list_tools mcp_call
  mcp_approval_request mcp_approval_response compaction queries results action logs outputs code container_id approve
  approval_request_id server_label server_url require_approval always never allowed_tools file_search web_search
  web_search_preview code_interpreter computer_use_preview image_generation local_shell mcp grammar
  vector_store_ids file_citation file_path container_file_citation annotation annotation_index disabled
  minimal xhigh concise detailed default flex scale priority
  choices text_completion suffix echo best_of logprobs text_offset tokens token_logprobs
  list embedding embeddings encoding_format dimensions float base64
  data_sources azure_search content_filter_result content_filter_offsets content_filter_raw check_offset start_offset
  end_offset custom_blocklists hate self_harm sexual violence jailbreak protected_material_text protected_material_code
  indirect_attack profanity safe`.split(/\s+/)
)
