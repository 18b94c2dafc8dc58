/**
 * Field names and enumerated values of the generateContent API and of its schemas: a closed set of words that carry no
 * message. Its servers read JSON as protobuf does: every field has two spellings.
 */
const fields = `contents parts role text thought thoughtSignature inlineData mimeType data displayName fileData fileUri
  functionCall name args id partialArgs jsonPath stringValue numberValue boolValue nullValue willContinue
  functionResponse response scheduling executableCode language code codeExecutionResult outcome output toolCall toolType
  toolResponse videoMetadata startOffset endOffset fps partMetadata mediaResolution
  systemInstruction tools functionDeclarations description parameters parametersJsonSchema responseJsonSchema behavior
  googleSearch googleSearchRetrieval dynamicRetrievalConfig dynamicThreshold mode codeExecution urlContext googleMaps
  computerUse environment excludedPredefinedFunctions fileSearch fileSearchStoreNames metadataFilter timeRangeFilter startTime
  endTime excludeDomains enableWidget toolConfig functionCallingConfig allowedFunctionNames retrievalConfig latLng latitude
  longitude languageCode includeServerSideToolInvocations
  safetySettings category threshold method cachedContent labels model store serviceTier continuationToken
  generationConfig temperature topP topK candidateCount maxOutputTokens stopSequences responseMimeType responseSchema
  responseModalities presencePenalty frequencyPenalty seed responseLogprobs logprobs enableEnhancedCivicAnswers speechConfig
  voiceConfig prebuiltVoiceConfig voiceName multiSpeakerVoiceConfig speakerVoiceConfigs speaker audioTimestamp
  thinkingConfig includeThoughts thinkingBudget thinkingLevel imageConfig aspectRatio imageSize mediaResolution
  candidates content finishReason finishMessage index tokenCount safetyRatings probability probabilityScore severity
  severityScore blocked citationMetadata citationSources citations startIndex endIndex uri title license publicationDate
  groundingMetadata webSearchQueries imageSearchQueries searchEntryPoint renderedContent sdkBlob groundingChunks web domain
  retrievedContext maps placeId placeAnswerSources groundingSupports segment partIndex groundingChunkIndices confidenceScores
  retrievalMetadata googleSearchDynamicRetrievalScore urlContextMetadata urlMetadata retrievedUrl urlRetrievalStatus
  avgLogprobs logprobsResult topCandidates chosenCandidates token tokenId logProbability logProbabilitySum
  promptFeedback blockReason blockReasonMessage usageMetadata promptTokenCount candidatesTokenCount totalTokenCount
  thoughtsTokenCount toolUsePromptTokenCount cachedContentTokenCount promptTokensDetails candidatesTokensDetails
  cacheTokensDetails toolUsePromptTokensDetails modality modelVersion responseId createTime trafficType modelStatus modelStage
  totalTokens generateContentRequest requests taskType outputDimensionality embedding embeddings values shape statistics truncated
  error status message details reason metadata
  type format nullable enum items prefixItems maxItems minItems properties required minProperties maxProperties minLength
  maxLength pattern example anyOf oneOf propertyOrdering default minimum maximum additionalProperties`.split(/\s+/)

const values =
  `user function system AUTO ANY NONE VALIDATED STRING NUMBER INTEGER BOOLEAN ARRAY OBJECT NULL string number
  integer boolean array object null TEXT IMAGE AUDIO VIDEO DOCUMENT MODALITY_UNSPECIFIED PYTHON LANGUAGE_UNSPECIFIED OUTCOME_OK
  OUTCOME_FAILED OUTCOME_DEADLINE_EXCEEDED OUTCOME_UNSPECIFIED STOP MAX_TOKENS SAFETY RECITATION LANGUAGE OTHER BLOCKLIST
  PROHIBITED_CONTENT SPII MALFORMED_FUNCTION_CALL IMAGE_SAFETY UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS
  IMAGE_PROHIBITED_CONTENT NO_IMAGE IMAGE_RECITATION IMAGE_OTHER CONTINUATION FINISH_REASON_UNSPECIFIED
  BLOCKED_REASON_UNSPECIFIED MODEL_ARMOR JAILBREAK NEGLIGIBLE LOW MEDIUM HIGH HARM_CATEGORY_UNSPECIFIED
  HARM_CATEGORY_HARASSMENT HARM_CATEGORY_HATE_SPEECH HARM_CATEGORY_SEXUALLY_EXPLICIT HARM_CATEGORY_DANGEROUS_CONTENT
  HARM_CATEGORY_CIVIC_INTEGRITY BLOCK_NONE BLOCK_ONLY_HIGH BLOCK_MEDIUM_AND_ABOVE BLOCK_LOW_AND_ABOVE OFF
  HARM_BLOCK_THRESHOLD_UNSPECIFIED TASK_TYPE_UNSPECIFIED RETRIEVAL_QUERY RETRIEVAL_DOCUMENT SEMANTIC_SIMILARITY
  CLASSIFICATION CLUSTERING QUESTION_ANSWERING FACT_VERIFICATION CODE_RETRIEVAL_QUERY ON_DEMAND`.split(/\s+/)

export const names: ReadonlySet<string> = new Set([...fields, ...fields.map(snakeCase), ...values])

/** The name of a field as protobuf declares it. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** A field in either spelling. */
export function spellings(...camel: string[]): ReadonlySet<string> {
  return new Set([...camel, ...camel.map(snakeCase)])
}
