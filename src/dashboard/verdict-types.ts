/** The words of a verdict, as the API has them. */
export const decisions = ['permit', 'depends', 'divert', 'forbid'] as const
export type Decision = (typeof decisions)[number]

export const categories = [
  'hate',
  'harassment',
  'violence',
  'self_harm',
  'sexual',
  'sexual_minors',
  'illicit',
  'cyber_misuse',
  'weapons',
  'prompt_injection',
  'jailbreak',
  'personal_data',
  'secrets',
  'misinformation',
  'profanity'
] as const
export type Category = (typeof categories)[number]

export interface Detection {
  type: string
  category: Category
  /** 0..1 */
  confidence: number
  rule: string
  /** UTF-16 offsets into the text of the part. */
  span: { start: number; end: number }
  /** The reading that revealed it: plain, unicode, base64, … */
  layer: string
  /** RFC 6901 pointer of the part; absent where there is one text. */
  pointer?: string
  suppressed?: true
}

/** The explanation in the audit row of a verdict; rows of earlier versions have none. */
export interface AuditExplanation {
  thresholds?: { middle: number; high: number }
  categories?: {
    category: Category
    score: number
    decision: Decision
    to_milder: { decision: Decision; by: number } | null
    to_stricter: { decision: Decision; by: number } | null
  }[]
  rules?: { rule: string; category: Category; score: number; context: 'none' | 'permit' | 'forbid' | 'open' }[]
  flips?: { without: string[]; decision: Decision; risk_score: number }[]
  missing_context?: string[]
  places: {
    rule: string
    confidence: number
    layer: string
    reader?: string
    excepted?: true
    pointer?: string
    role?: string
    start: number
    end: number
  }[]
}
