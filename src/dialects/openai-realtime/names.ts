/** Field names and enumerated values of the Realtime API beside those of OpenAI's other APIs; see `openai/names.ts`. */
import { names as common } from '../openai/names.js'

export const names: ReadonlySet<string> = new Set([
  ...common,
  ...`event_id session session_id previous_item_id response_id conversation_id items
  session.update session.created session.updated conversation.created conversation.item.create
  conversation.item.created conversation.item.added conversation.item.done conversation.item.retrieve
  conversation.item.retrieved conversation.item.truncate conversation.item.truncated conversation.item.delete
  conversation.item.deleted conversation.item.input_audio_transcription.completed
  conversation.item.input_audio_transcription.delta conversation.item.input_audio_transcription.segment
  conversation.item.input_audio_transcription.failed input_audio_buffer.append input_audio_buffer.commit
  input_audio_buffer.clear input_audio_buffer.committed input_audio_buffer.cleared input_audio_buffer.speech_started
  input_audio_buffer.speech_stopped input_audio_buffer.timeout_triggered input_audio_buffer.dtmf_event_received
  output_audio_buffer.clear output_audio_buffer.started output_audio_buffer.stopped output_audio_buffer.cleared
  response.create response.cancel response.done response.text.delta response.text.done
  response.output_audio.delta response.output_audio.done response.output_audio_transcript.delta
  response.output_audio_transcript.done response.audio_transcript.delta response.audio_transcript.done
  response.mcp_call_arguments.delta response.mcp_call_arguments.done rate_limits.updated rate_limits
  mcp_list_tools.in_progress mcp_list_tools.completed mcp_list_tools.failed
  realtime realtime.item realtime.session realtime.response realtime.conversation transcription
  output_audio output_modalities audio_start_ms audio_end_ms turn_detection server_vad semantic_vad threshold
  prefix_padding_ms silence_duration_ms create_response interrupt_response idle_timeout_ms eagerness
  input_audio_format output_audio_format pcm16 g711_ulaw g711_alaw audio/pcm audio/pcmu audio/pcma rate
  noise_reduction input_audio_noise_reduction near_field far_field input_audio_transcription language delay
  voice speed alloy ash ballad coral echo sage shimmer verse marin cedar tracing workflow_name group_id
  max_response_output_tokens inf retention_ratio client_secret value input_token_details output_token_details
  text_tokens image_tokens cached_tokens_details seconds duration remaining reset_seconds limit requests
  status_details reason turn_detected client_cancelled speaker start end allowed_callers connector_id defer_loading
  invalid_request_error server_error`.split(/\s+/)
])
