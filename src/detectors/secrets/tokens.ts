/**
 * Tokens whose issuer marks them. Shapes follow the issuers' documentation and the public rules of gitleaks and of GitHub
 * secret scanning; quantifiers are bounded and never overlap, so matching is linear.
 */
import { crc32 } from 'node:zlib'

export interface TokenShape {
  kind: string
  /** Must occur in the text for the pattern to be tried. */
  literal: string
  pattern: RegExp
  confidence: number
  /** A check beyond the shape. */
  valid?: (token: string) => boolean
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** This gateway's own keys end in a checksum: CRC-32 of all before it, in base62, six digits. */
function hasKeyChecksum(key: string): boolean {
  let value = crc32(key.slice(0, -6))
  let digits = ''
  for (let i = 0; i < 6; i++) {
    digits = base62[value % 62]! + digits
    value = Math.trunc(value / 62)
  }
  return digits === key.slice(-6)
}

/** The header of a signed token (RFC 7519) is JSON that names an algorithm. */
function hasJoseHeader(token: string): boolean {
  try {
    const header: unknown = JSON.parse(Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString('utf8'))
    return typeof header === 'object' && header !== null && 'alg' in header
  } catch {
    return false
  }
}

/** Random enough not to be a sample: sixteen or more characters of at least eight kinds. */
function isVaried(token: string): boolean {
  return new Set(token.slice(-24)).size >= 8
}

const shape = (kind: string, literal: string, pattern: RegExp, confidence = 0.95, valid = isVaried): TokenShape => ({
  kind,
  literal,
  pattern,
  confidence,
  valid
})

export const tokenShapes: readonly TokenShape[] = [
  shape(
    'sluicegate_key',
    'slg_',
    /(?<!\w)slg_(?:live|test)_[0-9A-Za-z]{8}_[0-9A-Za-z]{48}(?!\w)/g,
    0.99,
    hasKeyChecksum
  ),
  ...['AKIA', 'ASIA', 'ABIA', 'ACCA'].map((prefix) =>
    shape('aws_access_key', prefix, new RegExp(`(?<![A-Za-z0-9])${prefix}[A-Z0-9]{16}(?![A-Za-z0-9])`, 'g'))
  ),
  shape('github_token', 'gh', /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{36,255}/g),
  shape('github_token', 'github_pat_', /(?<![A-Za-z0-9])github_pat_\w{40,255}/g),
  shape('gitlab_token', 'glpat-', /(?<![A-Za-z0-9])glpat-[\w-]{20,64}/g),
  shape('gitlab_token', 'gl', /(?<![A-Za-z0-9])gl(?:ptt|dt|rt|cbt|ft|soat|agent|oas)-[\w-]{20,64}/g),
  shape('slack_token', 'xox', /(?<![A-Za-z0-9])xox[abeoprs]-[\w-]{10,250}/g),
  shape('slack_token', 'xapp-', /(?<![A-Za-z0-9])xapp-\d-[A-Z0-9]{6,20}-\d{6,20}-[0-9a-f]{32,80}/g),
  shape(
    'slack_webhook',
    'hooks.slack.com',
    /hooks\.slack\.com\/(?:services|workflows|triggers)\/T\w{6,14}\/\w{6,40}\/\w{8,60}/g
  ),
  shape('discord_webhook', '/webhooks/', /discord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/[\w-]{40,100}/g),
  shape('stripe_key', 'k_live_', /(?<![A-Za-z0-9])[sr]k_live_[A-Za-z0-9]{16,128}/g),
  shape('stripe_key', 'k_test_', /(?<![A-Za-z0-9])[sr]k_test_[A-Za-z0-9]{16,128}/g),
  shape('stripe_key', 'whsec_', /(?<![A-Za-z0-9])whsec_[A-Za-z0-9+/=]{24,88}/g),
  shape('anthropic_key', 'sk-ant-', /(?<![A-Za-z0-9])sk-ant-[a-z0-9]{2,12}-[\w-]{20,160}/g),
  shape(
    'openai_key',
    'sk-',
    /(?<![A-Za-z0-9])sk-(?!ant-)(?:proj-|svcacct-|admin-|None-|or-v1-)?(?=[\w-]{0,200}\d)[\w-]{20,200}/g
  ),
  shape('google_api_key', 'AIza', /(?<![A-Za-z0-9])AIza[\w-]{35}(?![\w-])/g),
  shape('google_oauth_secret', 'GOCSPX-', /(?<![A-Za-z0-9])GOCSPX-[\w-]{28}(?![\w-])/g),
  shape('google_oauth_token', 'ya29.', /(?<![A-Za-z0-9])ya29\.[\w-]{20,400}/g),
  shape('azure_storage_key', 'AccountKey=', /AccountKey=[A-Za-z0-9+/]{86}==/g),
  shape('npm_token', 'npm_', /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/g),
  shape('pypi_token', 'pypi-', /(?<![A-Za-z0-9])pypi-AgE[\w-]{50,250}/g),
  shape('sendgrid_key', 'SG.', /(?<![A-Za-z0-9])SG\.[\w-]{16,32}\.[\w-]{16,64}/g),
  shape('twilio_key', 'SK', /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])/g),
  shape(
    'telegram_bot_token',
    ':',
    /(?<![A-Za-z0-9])\d{8,10}:[\w-]{33,36}(?![\w-])/g,
    0.9,
    (token) => isVaried(token) && /[A-Z]/.test(token) && /[a-z]/.test(token)
  ),
  shape('discord_token', '.', /(?<![\w.-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/g, 0.85),
  shape('jwt', 'ey', /(?<![A-Za-z0-9])ey[\w-]{8,2000}\.ey[\w-]{8,8000}\.[\w-]{0,1024}/g, 0.9, hasJoseHeader),
  shape('vault_token', 'hv', /(?<![A-Za-z0-9])hv[sbr]\.[\w-]{24,300}/g),
  shape('age_secret_key', 'AGE-SECRET-KEY-1', /AGE-SECRET-KEY-1[0-9A-Z]{58}/g),
  shape('digitalocean_token', '_v1_', /(?<![A-Za-z0-9])do[opr]_v1_[0-9a-f]{64}/g),
  shape('huggingface_token', 'hf_', /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,40}(?![A-Za-z0-9])/g),
  shape('provider_token', 'shp', /(?<![A-Za-z0-9])shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/g),
  shape('provider_token', 'dapi', /(?<![A-Za-z0-9])dapi[0-9a-f]{32}/g),
  shape('provider_token', 'gsk_', /(?<![A-Za-z0-9])gsk_[A-Za-z0-9]{40,60}/g),
  shape(
    'provider_token',
    '_',
    /(?<![A-Za-z0-9])(?:r8_|sbp_|rnd_|lin_api_|dckr_pat_|PMAK-|sntrys_|pscale_tkn_|NRAK-|glsa_|figd_|ntn_|pplx-|xai-|tvly-|EAAA|shippo_live_)[\w-]{24,160}/g,
    0.85,
    (token) => isVaried(token) && /\d/.test(token)
  ),
  shape('provider_token', 'ATATT3', /(?<![A-Za-z0-9])ATATT3[\w=-]{60,250}/g),
  shape('provider_token', 'key-', /(?<![A-Za-z0-9])key-[0-9a-f]{32}(?![A-Za-z0-9])/g, 0.8),
  shape('provider_token', 'sq0', /(?<![A-Za-z0-9])sq0(?:atp|csp)-[\w-]{22,43}/g)
]
