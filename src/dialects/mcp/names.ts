/** The protocol's own field names and enumerated values (modelcontextprotocol.io/specification): they carry no message. */
export const names: ReadonlySet<string> = new Set(
  `jsonrpc id method params result error code message data _meta
  initialize ping protocolVersion capabilities clientInfo serverInfo instructions supportedVersions version websiteUrl
  experimental logging completions prompts resources tools sampling elicitation roots tasks extensions
  listChanged subscribe list cancel requests create createMessage call context form url
  name title description inputSchema outputSchema annotations icons src mimeType sizes theme light dark any
  readOnlyHint destructiveHint idempotentHint openWorldHint execution taskSupport forbidden optional required
  type object array string number integer boolean null properties items enum enumNames const default anyOf oneOf allOf not
  additionalProperties $schema $ref $defs $id format minLength maxLength minimum maximum minItems maxItems uniqueItems pattern
  exclusiveMinimum exclusiveMaximum email uri date date-time x-mcp-header
  arguments uri uriTemplate resourceTemplates size lastModified audience priority user assistant role
  content text image audio resource resource_link blob structuredContent isError contents messages tool_use tool_result toolUseId input
  nextCursor cursor progressToken progress total level logger debug info notice warning critical alert emergency
  requestId reason ref ref/prompt ref/resource argument value values hasMore completion
  systemPrompt maxTokens temperature modelPreferences hints costPriority speedPriority intelligencePriority stopSequences
  metadata includeContext none thisServer allServers toolChoice mode auto stopReason endTurn stopSequence toolUse model
  requestedSchema action accept decline elicitationId ttlMs cacheScope public private resultType complete input_required
  inputRequests inputResponses requestState notifications toolsListChanged promptsListChanged resourcesListChanged
  resourceSubscriptions task taskId ttl pollInterval status statusMessage createdAt lastUpdatedAt working completed failed cancelled
  io.modelcontextprotocol/protocolVersion io.modelcontextprotocol/clientInfo io.modelcontextprotocol/clientCapabilities
  io.modelcontextprotocol/logLevel io.modelcontextprotocol/serverInfo io.modelcontextprotocol/subscriptionId
  io.modelcontextprotocol/related-task http://json-schema.org/draft-07/schema# https://json-schema.org/draft/2020-12/schema
  application/json text/plain image/png image/jpeg`.split(/\s+/)
)
