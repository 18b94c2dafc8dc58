/** The list of all token kinds with an issuer's mark, by field. */
import { ai } from './ai.js'
import { azure } from './azure.js'
import { chat } from './chat.js'
import { cloud } from './cloud.js'
import { code } from './code.js'
import { keys } from './keys.js'
import { payment } from './payment.js'
import type { Row } from './row.js'
import { tools } from './tools.js'

export const rows: readonly Row[] = [...cloud, ...azure, ...code, ...ai, ...chat, ...payment, ...tools, ...keys]

/** Groups under which rules can name several kinds: these were one kind in earlier versions. */
export const groups: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'provider_token',
    [
      ...[
        'shopify_token',
        'shopify_secret',
        'databricks_token',
        'groq_key',
        'replicate_token',
        'supabase_token',
        'render_key'
      ],
      ...[
        'linear_key',
        'docker_token',
        'postman_key',
        'sentry_token',
        'sentry_organization_token',
        'planetscale_token'
      ],
      ...[
        'newrelic_key',
        'grafana_service_token',
        'figma_token',
        'notion_token',
        'perplexity_key',
        'xai_key',
        'tavily_key'
      ],
      ...['facebook_token', 'square_token', 'square_secret', 'shippo_token', 'atlassian_token', 'mailgun_key']
    ]
  ],
  ['gitlab_token', rows.map(({ kind }) => kind).filter((kind) => kind.startsWith('gitlab_'))],
  ['slack_token', rows.map(({ kind }) => kind).filter((kind) => /^slack_\w*token$/.test(kind))],
  ['stripe_key', ['stripe_key', 'stripe_webhook_secret']],
  ['openai_key', ['openai_key', 'openai_admin_key', 'openrouter_key', 'helicone_key', 'langfuse_key']],
  ['anthropic_key', rows.map(({ kind }) => kind).filter((kind) => kind.startsWith('anthropic_'))],
  ['vault_token', ['vault_token', 'vault_batch_token', 'vault_recovery_token']]
])
