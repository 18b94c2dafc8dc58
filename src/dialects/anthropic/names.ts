/** Field names and enumerated values of the Messages API, of what Amazon Bedrock adds to it, and of JSON Schema: a closed set of words that carry no message. */
export const names: ReadonlySet<string> = new Set(
  `messages model role content system max_tokens metadata user_id stop_sequences stream temperature top_k top_p tools tool_choice
  thinking budget_tokens enabled disabled adaptive display summarized omitted service_tier standard_only standard priority batch
  container skills skill_id version latest mcp_servers mcp_server_name server_label server_name authorization_token tool_configuration
  allowed_tools url context_management edits trigger keep clear_at_least exclude_tools clear_tool_inputs
  output_config output_format effort format schema inference_geo speed fast betas diagnostics transformations
  cache_control ephemeral ttl 5m 1h thread create continue previous_message_id fallbacks fallback_credit_token billing_policy workspace_id user_profile_id
  type text image document search_result tool_use tool_result server_tool_use redacted_thinking container_upload compaction
  mcp_tool_use mcp_tool_result web_search_tool_result web_search_result web_search_tool_result_error
  web_fetch_tool_result web_fetch_result web_fetch_tool_result_error
  code_execution_tool_result code_execution_result encrypted_code_execution_result code_execution_output
  code_execution_tool_result_error bash_code_execution_tool_result bash_code_execution_result bash_code_execution_output
  bash_code_execution_tool_result_error text_editor_code_execution_tool_result text_editor_code_execution_view_result
  text_editor_code_execution_create_result text_editor_code_execution_str_replace_result
  text_editor_code_execution_tool_result_error tool_search_tool_result tool_search_tool_search_result
  tool_search_tool_result_error tool_reference tool_name tool_references
  source base64 file media_type data file_id title context citations citation cited_text document_index document_title
  start_char_index end_char_index char_location page_location start_page_number end_page_number content_block_location
  start_block_index end_block_index search_result_location search_result_index web_search_result_location
  encrypted_index encrypted_content encrypted_stdout signature page_age retrieved_at error_code stdout stderr return_code
  file_type lines num_lines start_line total_lines old_lines new_lines old_start new_start is_file_update
  id name input tool_use_id is_error caller direct tool_id
  auto any tool none disable_parallel_tool_use custom description input_schema strict defer_loading allowed_callers
  input_examples eager_input_streaming max_uses allowed_domains blocked_domains user_location approximate city region country timezone
  max_content_tokens display_width_px display_height_px display_number enable_zoom max_characters
  user assistant low medium high xhigh max json_schema
  message stop_reason stop_sequence stop_details end_turn pause_turn refusal model_context_window_exceeded
  category explanation usage input_tokens output_tokens cache_creation cache_creation_input_tokens cache_read_input_tokens
  ephemeral_5m_input_tokens ephemeral_1h_input_tokens server_tool_use web_search_requests web_fetch_requests
  output_tokens_details thinking_tokens expires_at original_input_tokens applied_edits
  message_start message_delta message_stop content_block_start content_block_delta content_block_stop ping index delta
  text_delta input_json_delta partial_json citations_delta thinking_delta signature_delta compaction_delta content_block
  error request_id details
  anthropic_version anthropic_beta bedrock-2023-05-31 amazon-bedrock-invocationMetrics inputTokenCount outputTokenCount
  invocationLatency firstByteLatency cacheReadInputTokenCount cacheWriteInputTokenCount
  properties required items enum const default additionalProperties anyOf oneOf allOf not minimum maximum
  minLength maxLength minItems maxItems pattern string number integer boolean array object null $schema $defs $ref`.split(
    /\s+/
  )
)
