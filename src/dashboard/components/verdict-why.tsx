/**
 * How a verdict came about, from the numbers in its audit row: what counted, what would change it, and where the
 * findings are.
 */
import { Anchor, Code, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { linkTo } from '../router'
import type { AuditExplanation, Decision } from '../types'
import { categoryName } from './badges'

const readerNames: Record<string, string> = {
  rule: 'words and patterns',
  detector: 'detectors',
  screen: 'the classifier',
  encoder: 'the encoder',
  judge: 'a heavier judge'
}

export function readerName(reader: string): string {
  return readerNames[reader] ?? reader
}

/** The rows of the table `Why` that an explanation fills. @param bearing the rules that bear on the decision */
export function WhyRows({ explanation, bearing }: { explanation: AuditExplanation; bearing: readonly string[] }) {
  const { categories = [], rules = [], flips = [], missing_context: keys = [], places } = explanation
  return (
    <>
      <Row name="Rules" shown={rules.length > 0}>
        {rules.map(({ rule, category, score, context }) => (
          <div key={`${rule} ${category}`}>
            <Anchor
              href={linkTo('audit', { rule })}
              fz="xs"
              fw={bearing.includes(rule) ? 600 : 400}
              style={{ overflowWrap: 'anywhere' }}
            >
              {rule}
            </Anchor>
            {` counts ${score.toFixed(2)} for ${categoryName(category)}${effects[context]}`}
          </div>
        ))}
      </Row>
      <Row name="Scores" shown={categories.length > 0}>
        {categories.map(({ category, score, decision, to_milder, to_stricter }) => (
          <div key={category}>
            <Anchor href={linkTo('audit', { category })} fz="xs">
              {category} {score.toFixed(2)}
            </Anchor>
            {`: ${decision}${distances(to_milder, to_stricter)}`}
          </div>
        ))}
      </Row>
      <Row name="Would change it" shown={flips.length + keys.length > 0}>
        {flips.map(({ without, decision, risk_score }) => (
          <div key={without.join(' ')} style={{ overflowWrap: 'anywhere' }}>
            Without {without.join(' and ')}: {decision} at {risk_score.toFixed(2)}
          </div>
        ))}
        {keys.length > 0 && <div>{`${keys.join(' or ')} in the context could settle it`}</div>}
      </Row>
      <Row name="Where" shown={places.length > 0}>
        {places.map(({ rule, confidence, layer, reader, excepted, pointer, role, start, end }) => (
          <div key={`${rule} ${layer} ${pointer} ${start} ${end}`} style={{ overflowWrap: 'anywhere' }}>
            {`Characters ${start} to ${end}`}
            {pointer !== undefined && (
              <>
                {' of '}
                <Code fz={11}>{pointer}</Code>
              </>
            )}
            {role !== undefined && ` (${role})`}
            {`: ${rule} ${confidence.toFixed(2)}`}
            {reader !== undefined && `, ${readerName(reader)}`}
            {layer !== 'plain' && `, read as ${layer}`}
            {excepted && ', excepted'}
          </div>
        ))}
      </Row>
    </>
  )
}

const effects = {
  none: '',
  permit: ': the context settles it',
  forbid: ': the context makes it stricter',
  open: ': the context does not settle it'
} as const

type Next = { decision: Decision; by: number } | null

function distances(milder: Next, stricter: Next): string {
  const told = [
    milder && `${milder.decision} if ${step(milder.by)} lower`,
    stricter && `${stricter.decision} if ${step(stricter.by)} higher`
  ].filter((text) => text !== null)
  return told.length === 0 ? '' : ` (${told.join(', ')})`
}

/** Never `0.00`: scores have four digits, so a step may be smaller than this text can show. */
function step(by: number): string {
  return by < 0.01 ? 'less than 0.01' : by.toFixed(2)
}

export function Row({ name, shown = true, children }: { name: string; shown?: boolean; children: ReactNode }) {
  if (!shown) return null
  return (
    <Table.Tr style={{ verticalAlign: 'top' }}>
      <Table.Th fw={500} className="nowrap">
        {name}
      </Table.Th>
      <Table.Td>
        <Text size="xs" component="div">
          {children}
        </Text>
      </Table.Td>
    </Table.Tr>
  )
}
