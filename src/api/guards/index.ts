/** The guardrail hooks of other gateways, each answered in its own shape. */
import type { FastifyInstance } from 'fastify'
import { registerAgentgateway } from './agentgateway.js'
import { registerAuthRequest } from './auth-request.js'
import { registerFlat } from './flat.js'
import type { GuardDeps } from './guard.js'
import { registerLiteLLM } from './litellm.js'
import { registerPortkey } from './portkey.js'

export function registerGuards(app: FastifyInstance, deps: GuardDeps): void {
  registerLiteLLM(app, deps)
  registerPortkey(app, deps)
  registerAgentgateway(app, deps)
  registerFlat(app, deps)
  registerAuthRequest(app, deps)
}
