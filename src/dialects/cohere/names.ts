/** Field names and enumerated values of Cohere's chat and of JSON Schema: a closed set of words that carry no message. */
export const names: ReadonlySet<string> = new Set(
  `model messages role content type text thinking image_url url detail document documents data id tool_calls tool_call_id
  tool_plan function name arguments citations start end sources content_index tool_output title snippet
  tools parameters description strict_tools tool_choice REQUIRED NONE documents citation_options mode
  response_format json_object json_schema safety_mode CONTEXTUAL STRICT OFF max_tokens stop_sequences temperature seed
  frequency_penalty presence_penalty k p return_prompt return_prompts logprobs token_ids stream priority raw_prompting
  token_budget enabled disabled auto low high FAST ACCURATE fast accurate off
  system user assistant tool TEXT_CONTENT THINKING_CONTENT PLAN
  message finish_reason prompt usage billed_units tokens input_tokens output_tokens search_units classifications images
  cached_tokens COMPLETE STOP_SEQUENCE MAX_TOKENS TOOL_CALL ERROR TIMEOUT
  index delta error debug message-start message-end content-start content-delta content-end tool-plan-delta
  tool-call-start tool-call-delta tool-call-end citation-start citation-end
  properties required items enum const default additionalProperties anyOf oneOf allOf not minimum maximum
  minLength maxLength minItems maxItems pattern string number integer boolean array object null $schema $defs $ref`.split(
    /\s+/
  )
)
