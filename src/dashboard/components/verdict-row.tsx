/** The audit row of a verdict with its explanation: never a text, and each part links to similar rows. */
import { Anchor, Group, Stack, Table, Text } from '@mantine/core'
import { linkTo } from '../router'
import type { AuditExplanation, AuditRow, Category, Decision } from '../types'
import { CategoryBadge, DecisionBadge, Risk } from './badges'
import { useMay } from './may'
import { Row, readerName, WhyRows } from './verdict-why'

/** The data in the row of a verdict; rows of earlier versions lack some fields. */
interface Verdict {
  decision: Decision
  risk_score: number
  rules?: string[]
  categories?: Category[]
  scores?: Partial<Record<Category, number>>
  readers?: string[]
  explanation?: AuditExplanation
  policy?: string
  surface?: string
  route?: string
  upstream?: string
  model?: string
  not_evaluated?: string[]
  /** The id of its sample, if one is stored. */
  sample?: string
}

export function verdictOf({ kind, data }: AuditRow): Verdict | undefined {
  return kind === 'evaluation' && 'decision' in data ? (data as unknown as Verdict) : undefined
}

/** Risk and decision never contradict each other, so that the decision tells the band. */
const bands: Record<Decision, string> = {
  permit: 'below the middle band',
  depends: 'in the middle band',
  divert: 'in the middle band',
  forbid: 'in the high band'
}

export function VerdictLine({ verdict }: { verdict: Verdict }) {
  const { decision, risk_score, rules = [], categories = [] } = verdict
  return (
    <Group gap={8} component="span" display="inline-flex" style={{ verticalAlign: 'middle' }}>
      <DecisionBadge decision={decision} size="sm" />
      <Text span size="xs" ff="monospace">
        {risk_score.toFixed(2)}
      </Text>
      {decision !== 'permit' && categories.map((category) => <CategoryBadge key={category} category={category} />)}
      {rules.length > 0 && (
        <Text span size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {rules.slice(0, 3).join(', ')}
          {rules.length > 3 && ` and ${rules.length - 3} more`}
        </Text>
      )}
    </Group>
  )
}

export function VerdictFacts({ verdict, id }: { verdict: Verdict; id: string | null }) {
  const { decision, risk_score, rules = [], categories = [], scores = {}, readers, explanation } = verdict
  const { not_evaluated: beyond } = verdict
  const mayRead = useMay('samples:read')
  const scored = categories.filter((category) => scores[category] !== undefined)
  return (
    <Stack gap={6} my={6}>
      <Group gap="xs">
        <Risk score={risk_score} />
        <Text size="xs" c="dimmed">
          {bands[decision]}
          {verdict.policy !== undefined && ` of ${verdict.policy}`}
          {explanation?.thresholds !== undefined &&
            ` (middle from ${explanation.thresholds.middle}, high from ${explanation.thresholds.high})`}
        </Text>
      </Group>
      <Table withRowBorders={false} verticalSpacing={2} horizontalSpacing={4} fz="xs" aria-label="Why">
        <Table.Tbody>
          {explanation?.rules === undefined && <Fact name="Rules" filter="rule" values={rules} />}
          {explanation?.categories === undefined && scored.length > 0 && (
            <Row name="Scores">
              <Group gap={8}>
                {scored.map((category) => (
                  <Anchor key={category} href={linkTo('audit', { category })} fz="xs">
                    {category} {scores[category]!.toFixed(2)}
                  </Anchor>
                ))}
              </Group>
            </Row>
          )}
          {explanation !== undefined && <WhyRows explanation={explanation} bearing={rules} />}
          <Fact name="Found by" filter="reader" values={readers} shown={readerName} />
          <Fact name="Route" filter="route" values={verdict.route} />
          <Fact name="Upstream" filter="upstream" values={verdict.upstream} />
          <Fact name="Model" filter="model" values={verdict.model} />
          {beyond !== undefined && <Row name="Not judged">{beyond.join(', ')}</Row>}
        </Table.Tbody>
      </Table>
      {id !== null && (
        <Group gap="md">
          <Anchor size="xs" href={linkTo('exceptions', { evaluation: id })}>
            This was wrong
          </Anchor>
          <Anchor size="xs" href={linkTo('audit', { subject: id })}>
            All rows of this call
          </Anchor>
          {verdict.sample !== undefined &&
            (mayRead ? (
              <Anchor size="xs" href={linkTo('samples', { sample: verdict.sample })}>
                View sample, with its findings marked
              </Anchor>
            ) : (
              <Text size="xs" c="dimmed">
                Its text is kept for people who may read samples.
              </Text>
            ))}
        </Group>
      )}
    </Stack>
  )
}

interface FactProps {
  name: string
  /** What the audit calls it. */
  filter: string
  values: string | string[] | undefined
  shown?(value: string): string
}

function Fact({ name, filter, values, shown = String }: FactProps) {
  const all = values === undefined ? [] : [values].flat()
  if (all.length === 0) return null
  return (
    <Row name={name}>
      <Group gap={8}>
        {all.map((value) => (
          <Anchor key={value} href={linkTo('audit', { [filter]: value })} fz="xs" style={{ overflowWrap: 'anywhere' }}>
            {shown(value)}
          </Anchor>
        ))}
      </Group>
    </Row>
  )
}
