/** Field names and enumerated values of Bedrock's Converse and of JSON Schema: a closed set of words that carry no message. */
export const names: ReadonlySet<string> = new Set(
  `messages role content system inferenceConfig maxTokens temperature topP stopSequences toolConfig tools toolSpec systemTool name
  description inputSchema json strict toolChoice auto any tool guardrailConfig guardrailIdentifier guardrailVersion trace
  streamProcessingMode sync async enabled disabled enabled_full additionalModelRequestFields additionalModelResponseFieldPaths
  additionalModelResponseFields promptVariables requestMetadata performanceConfig latency standard optimized serviceTier type
  default priority flex reserved outputConfig textFormat structure jsonSchema schema json_schema DRAFT
  text image document video audio toolUse toolUseId input toolResult status success error searchResult guardContent qualifiers
  grounding_source query guard_content cachePoint ttl 5m 1h reasoningContent reasoningText signature redactedContent citationsContent
  citations citation source bytes s3Location uri bucketOwner format context title sourceContent location web url domain
  documentChar documentPage documentChunk searchResultLocation documentIndex searchResultIndex start end server_tool_use
  png jpeg gif webp pdf csv doc docx xls xlsx html txt md mkv mov mp4 webm flv mpeg mpg wmv three_gp mp3 opus wav aac flac m4a ogg
  user assistant
  output message stopReason end_turn tool_use max_tokens stop_sequence guardrail_intervened content_filtered
  malformed_model_output malformed_tool_use model_context_window_exceeded
  usage inputTokens outputTokens totalTokens cacheReadInputTokens cacheWriteInputTokens cacheDetails serverToolUsage
  webSearchRequests metrics latencyMs
  guardrail modelOutput inputAssessment outputAssessments actionReason topicPolicy topics action wordPolicy customWords match detected
  managedWordLists contentPolicy filters confidence filterStrength sensitiveInformationPolicy piiEntities regexes regex
  contextualGroundingPolicy threshold score automatedReasoningPolicy invocationMetrics guardrailProcessingLatency guardrailCoverage
  textCharacters guarded total images promptRouter invokedModelId
  BLOCKED ANONYMIZED NONE DENY NONE LOW MEDIUM HIGH GROUNDING RELEVANCE PROFANITY INSULTS HATE SEXUAL VIOLENCE MISCONDUCT PROMPT_ATTACK
  delta contentBlockIndex p
  __type error_code details pointer evaluation_id request_id
  properties required items enum const additionalProperties anyOf oneOf allOf not minimum maximum minLength maxLength
  minItems maxItems pattern string number integer boolean array object null $schema $defs $ref`.split(/\s+/)
)
