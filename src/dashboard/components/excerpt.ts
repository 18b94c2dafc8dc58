/** The words that a review is about, for its row in the queue. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../api'
import type { Review, ReviewDetail } from '../types'
import { definitionOf, excerptOfDefinition } from './definition-review'
import { partsOf } from './request-text'

/** Characters shown, and how many of them precede the finding. */
const shown = 160
const before = 40

/**
 * A review's text never changes, so each is read once. What is read also opens at once when the row is chosen.
 * @param isSeen whether the row is on the screen: others are not read
 * @returns undefined while it is awaited; null where the text was deleted or may not be read
 */
export function useExcerpt(review: Review, isSeen: boolean): string | null | undefined {
  const client = useQueryClient()
  const { data, isError } = useQuery({
    queryKey: ['excerpt', review.review_id, review.purged_at],
    queryFn: async () => {
      const detail = await api.review(review.review_id)
      client.setQueryData(['reviews', 'one', review.review_id], detail)
      return excerptOf(detail)
    },
    enabled: isSeen,
    staleTime: Number.POSITIVE_INFINITY
  })
  return isError ? null : data
}

/**
 * The excerpt of a review, where this page has read it and the text is still kept; undefined elsewhere. Each reading of a text is
 * a row of the audit: a search reads none anew.
 */
export function useKnownExcerpts(): (review: Review) => string | undefined {
  const client = useQueryClient()
  return ({ review_id, purged_at }) =>
    client.getQueryData<string | null>(['excerpt', review_id, purged_at]) ?? undefined
}

/** The words around the finding that bears on the decision; without one, the last text, where the latest words are. */
export function excerptOf(review: ReviewDetail): string | null {
  const definition = definitionOf(review)
  if (definition !== undefined) return excerptOfDefinition(definition).slice(0, shown)
  const parts = partsOf(review)
  if (parts.length === 0) return null
  const bearing = review.detections
    .filter(({ rule }) => review.matched_rules.includes(rule))
    .sort((a, b) => b.confidence - a.confidence)[0]
  const found = bearing && parts.find(({ pointer }) => pointer === (bearing.pointer ?? '/input_text') || pointer === '')
  const text = (found ?? parts.at(-1)!).text
  const start = found === undefined ? 0 : Math.max(0, bearing!.span.start - before)
  const words = text
    .slice(start, start + shown)
    .replace(/\s+/g, ' ')
    .trim()
  return `${start > 0 ? '…' : ''}${words}${start + shown < text.length ? '…' : ''}`
}
