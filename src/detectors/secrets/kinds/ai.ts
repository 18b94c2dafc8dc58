/** Tokens of model providers and of tools around them. */
import { hasDigit, issuer, mixed, type Row, uuid } from './row.js'

const digits = { only: hasDigit }

export const ai: readonly Row[] = [
  ...issuer(
    'OpenAI',
    'https://platform.openai.com/docs/api-reference/authentication',
    ['openai_key', 'sk-proj-<40-200 word>', digits],
    ['openai_key', 'sk-svcacct-<40-200 word>', digits],
    ['openai_key', 'sk-service-<40-200 word>', digits],
    ['openai_key', 'sk-None-<40-200 word>', digits],
    ['openai_key', 'sk-<20 base62>T3BlbkFJ<20 base62>', { confidence: 0.98 }],
    ['openai_admin_key', 'sk-admin-<40-200 word>', digits],
    // Other providers with the same API use this form.
    ['openai_key', 'sk-<32-64 base62>', { only: hasDigit, confidence: 0.9 }],
    ['openai_key', 'sk-<20-200 word>', { only: mixed, confidence: 0.8 }]
  ),
  ...issuer(
    'Anthropic',
    'https://docs.anthropic.com/en/api',
    ['anthropic_key', 'sk-ant-api03-<20-160 word>', digits],
    ['anthropic_key', 'sk-ant-api<2-4 digit>-<20-160 word>'],
    ['anthropic_admin_key', 'sk-ant-admin01-<20-160 word>', digits],
    ['anthropic_oauth_token', 'sk-ant-oat01-<20-160 word>', digits],
    ['anthropic_oauth_token', 'sk-ant-ort01-<20-160 word>', digits],
    ['anthropic_key', 'sk-ant-<20-160 word>', { only: mixed, confidence: 0.9 }]
  ),
  ...issuer(
    'Hugging Face',
    'https://huggingface.co/docs/hub/security-tokens',
    ['huggingface_token', 'hf_<30-40 base62>', { only: (token) => /[A-Z]/.test(token) }],
    ['huggingface_organization_token', 'api_org_<34 base62>', { only: (token) => /[A-Z]/.test(token) }]
  ),
  ...issuer('Groq', 'https://console.groq.com/docs', ['groq_key', 'gsk_<40-60 base62>', digits]),
  ...issuer('Replicate', 'https://replicate.com/docs/topics/security/api-tokens', [
    'replicate_token',
    'r8_<37-40 word>',
    digits
  ]),
  ...issuer('Perplexity', 'https://docs.perplexity.ai', ['perplexity_key', 'pplx-<40-64 base62>', digits]),
  ...issuer(
    'xAI',
    'https://docs.x.ai',
    ['xai_key', 'xai-<70-90 word>', digits],
    ['xai_key', 'xai-<24-69 word>', { only: mixed, confidence: 0.85 }]
  ),
  ...issuer(
    'OpenRouter',
    'https://openrouter.ai/docs',
    ['openrouter_key', 'sk-or-v1-<64 hex>', { confidence: 0.98 }],
    ['openrouter_key', 'sk-or-<20-120 word>', digits]
  ),
  ...issuer('Tavily', 'https://docs.tavily.com', ['tavily_key', 'tvly-<24-64 word>', digits]),
  ...issuer('Fireworks', 'https://docs.fireworks.ai', [
    'fireworks_key',
    'fw_<22-32 base62>',
    { only: mixed, confidence: 0.85 }
  ]),
  ...issuer('Together', 'https://docs.together.ai', ['together_key', 'tgp_v1_<40-60 word>', digits]),
  ...issuer('NVIDIA', 'https://docs.nvidia.com/ngc', ['nvidia_key', 'nvapi-<60-70 word>', digits]),
  ...issuer('Pinecone', 'https://docs.pinecone.io', ['pinecone_key', 'pcsk_<5-6 base62>_<63 base62>']),
  ...issuer('Cerebras', 'https://inference-docs.cerebras.ai', ['cerebras_key', 'csk-<40-64 lower36>', digits]),
  ...issuer('ElevenLabs', 'https://elevenlabs.io/docs', ['elevenlabs_key', 'sk_<48 hex>']),
  ...issuer(
    'LangSmith',
    'https://docs.smith.langchain.com',
    ['langsmith_key', 'lsv2_pt_<32 hex>_<10 hex>'],
    ['langsmith_key', 'lsv2_sk_<32 hex>_<10 hex>']
  ),
  ...issuer('Langfuse', 'https://langfuse.com/docs', ['langfuse_key', `sk-lf-${uuid}`]),
  ...issuer('Helicone', 'https://docs.helicone.ai', ['helicone_key', 'sk-helicone-<20-60 word>', digits]),
  ...issuer('Jina AI', 'https://jina.ai', ['jina_key', 'jina_<32 hex><28-40 word>']),
  ...issuer('Firecrawl', 'https://docs.firecrawl.dev', ['firecrawl_key', 'fc-<32 hex>']),
  ...issuer('LlamaIndex', 'https://docs.cloud.llamaindex.ai', ['llamaindex_key', 'llx-<40-64 base62>', digits]),
  ...issuer('Friendli', 'https://friendli.ai/docs', ['friendli_token', 'flp_<46 base62>', digits]),
  ...issuer('RunPod', 'https://docs.runpod.io', ['runpod_key', 'rpa_<40-50 base62>', digits]),
  ...issuer('E2B', 'https://e2b.dev/docs', ['e2b_key', 'e2b_<40 hex>']),
  ...issuer('Browserbase', 'https://docs.browserbase.com', ['browserbase_key', 'bb_live_<20-40 word>', digits]),
  ...issuer('Apify', 'https://docs.apify.com', ['apify_token', 'apify_api_<36 base62>', digits]),
  ...issuer('Mem0', 'https://docs.mem0.ai', ['mem0_key', 'm0-<40 base62>', { only: mixed, confidence: 0.85 }]),
  ...issuer('Nomic', 'https://docs.nomic.ai', ['nomic_key', 'nk-<43 word>', { only: mixed, confidence: 0.8 }]),
  ...issuer('Voyage AI', 'https://docs.voyageai.com', ['voyage_key', 'pa-<43 word>', { only: mixed, confidence: 0.8 }]),
  ...issuer('Scrapfly', 'https://scrapfly.io/docs', ['scrapfly_key', 'scp-live-<32 hex>']),
  ...issuer(
    'Voiceflow',
    'https://docs.voiceflow.com',
    ['voiceflow_key', 'VF.DM.<24 anyhex>.<16 base62>'],
    ['voiceflow_key', 'VF.WS.<24 anyhex>.<16 base62>'],
    ['voiceflow_key', 'VF.<24 anyhex>.<16 base62>']
  ),
  ...issuer('Kaggle', 'https://www.kaggle.com/docs/api', ['kaggle_token', 'KGAT_<32 hex>'])
]
