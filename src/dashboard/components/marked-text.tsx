/** A text with its findings marked in place. It is always plain text: nothing in it is read as markup. */
import { alpha, Box, Tooltip, useMantineTheme } from '@mantine/core'
import { Fragment, type ReactNode, useMemo } from 'react'
import { categoryColors } from '../theme'
import type { Detection } from '../types'
import { categoryName, isDetection } from './badges'
import { type Invisible, invisibles } from './invisible'

interface Stretch {
  start: number
  end: number
  marks: Detection[]
}

/** Longer texts are shown from their beginning: a page of 100,000 marked characters is of no use to anyone. */
const maxShown = 40_000

interface MarkedTextProps {
  text: string
  detections: readonly Detection[]
  /** The rules that bear on the decision; findings of other rules are only underlined. Default: all rules. */
  bearing?: readonly string[]
}

export function MarkedText({ text, detections, bearing }: MarkedTextProps) {
  const shown = text.slice(0, maxShown)
  const stretches = useMemo(() => {
    const marked = detections.filter((detection) => isDetection(detection, bearing))
    return stretchesOf(shown.length, marked)
  }, [shown, detections, bearing])
  const hidden = useMemo(() => invisibles(shown), [shown])
  return (
    <Box className="marked-text" component="p" dir="auto">
      {stretches.map((stretch) => {
        const inside = hidden.filter(({ at }) => at >= stretch.start && at < stretch.end)
        const content = plain(shown, stretch, inside)
        return stretch.marks.length === 0 ? (
          <Fragment key={stretch.start}>{content}</Fragment>
        ) : (
          <Mark key={stretch.start} marks={stretch.marks} bearing={bearing}>
            {content}
          </Mark>
        )
      })}
      {text.length > maxShown && `… ${(text.length - maxShown).toLocaleString('en')} more characters`}
    </Box>
  )
}

interface MarkProps {
  marks: Detection[]
  bearing: readonly string[] | undefined
  children: ReactNode
}

function Mark({ marks, bearing, children }: MarkProps) {
  const { colors } = useMantineTheme()
  const deciding = marks.filter(({ rule }) => bearing === undefined || bearing.includes(rule))
  const strongest = (deciding.length > 0 ? deciding : marks).reduce((a, b) => (b.confidence > a.confidence ? b : a))
  const shades = colors[categoryColors[strongest.category] ?? 'gray']!
  const label = marks
    .map(
      ({ rule, category, confidence, layer }) =>
        `${categoryName(category)} ${confidence.toFixed(2)} · ${rule}${layer === 'plain' ? '' : ` · ${layer}`}`
    )
    .join('\n')
  return (
    <Tooltip
      label={label}
      multiline
      maw={420}
      style={{ whiteSpace: 'pre-wrap' }}
      events={{ hover: true, focus: true, touch: true }}
    >
      <mark
        data-hint={deciding.length === 0 || undefined}
        data-excepted={marks.every(({ suppressed }) => suppressed) || undefined}
        style={{ '--mark-fill': alpha(shades[5]!, 0.24), '--mark-line': shades[6] } as React.CSSProperties}
      >
        {children}
        <span className="visually-hidden"> ({label})</span>
      </mark>
    </Tooltip>
  )
}

/** Cut wherever a detection begins or ends. */
function stretchesOf(length: number, detections: readonly Detection[]): Stretch[] {
  const inText = detections.filter(({ span }) => span.start < span.end && span.start < length)
  const cuts = [
    ...new Set([0, length, ...inText.flatMap(({ span }) => [span.start, Math.min(span.end, length)])])
  ].sort((a, b) => a - b)
  return cuts.slice(0, -1).map((start, i) => {
    const end = cuts[i + 1]!
    return { start, end, marks: inText.filter(({ span }) => span.start <= start && span.end >= end) }
  })
}

function plain(text: string, { start, end }: Stretch, hidden: Invisible[]): ReactNode[] {
  const pieces: ReactNode[] = []
  let at = start
  for (const { at: place, length, label } of hidden) {
    pieces.push(text.slice(at, place))
    pieces.push(
      <span key={place} className="invisible">
        {label}
      </span>
    )
    at = place + length
  }
  pieces.push(text.slice(at, end))
  return pieces
}
