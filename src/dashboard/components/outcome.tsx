/** A verdict of a dry run: the decision, the text with its findings, and how it came about. */
import { Accordion, Badge, Box, Code, Group, List, Stack, Table, Text } from '@mantine/core'
import type { Explanation, Outcome as Verdict } from '../constitution-types'
import { categories } from '../types'
import { CategoryBadge, DecisionBadge, hintFloor, isDetection, Risk } from './badges'
import { SortedTable } from './data-table'
import { MarkedText } from './marked-text'

/** A text of a chat, with the pointer by which findings name it. */
interface Part {
  who: string
  pointer: string | undefined
  text: string
}

interface OutcomeProps {
  title: string
  /** One text, or the texts of a chat. */
  text?: string
  parts?: readonly Part[]
  verdict: Verdict | null | undefined
}

export function Outcome({ title, text, parts = [], verdict }: OutcomeProps) {
  if (verdict === undefined) return null
  if (verdict === null) {
    return (
      <Text size="sm" c="var(--mantine-color-error)">
        {title}: the text could not be judged in full; the gateway would refuse it.
      </Text>
    )
  }
  const scored = categories.filter((category) => verdict.scores[category] >= hintFloor)
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <DecisionBadge decision={verdict.decision} size="lg" />
        <Risk score={verdict.risk_score} />
        <Text size="xs" c="dimmed">
          {title} · {verdict.decision_time_ms.toFixed(1)} ms
        </Text>
      </Group>
      {text !== undefined && <MarkedText text={text} detections={verdict.detections} bearing={verdict.matched_rules} />}
      {parts.map(({ who, pointer, text }) => (
        <div key={pointer} className="chat-message" data-role={who}>
          <Text size="xs" c="dimmed" fw={600}>
            {who}
          </Text>
          <MarkedText
            text={text}
            detections={verdict.detections.filter((detection) => detection.pointer === pointer)}
            bearing={verdict.matched_rules}
          />
        </div>
      ))}
      {verdict.missing_context !== undefined && verdict.missing_context.length > 0 && (
        <Text size="sm">
          Context that would settle it: <Code>{verdict.missing_context.join(', ')}</Code>
        </Text>
      )}
      {scored.length > 0 && (
        <Group gap="xs">
          {scored.map((category) => (
            <Group key={category} gap={4}>
              <CategoryBadge category={category} />
              <Text size="xs" ff="monospace">
                {verdict.scores[category].toFixed(2)}
              </Text>
            </Group>
          ))}
        </Group>
      )}
    </Stack>
  )
}

/** Findings outside the texts shown: in the definition of a tool, in a parameter, or across several texts. */
export function OtherParts({ parts, verdict }: { parts: readonly Part[]; verdict: Verdict }) {
  const shown = new Set(parts.map(({ pointer }) => pointer))
  const elsewhere = verdict.detections.filter(
    (detection) => !shown.has(detection.pointer) && isDetection(detection, verdict.matched_rules)
  )
  if (elsewhere.length === 0) return null
  return (
    <div>
      <Text size="xs" fw={600}>
        Found elsewhere in the chat
      </Text>
      {elsewhere.map(({ rule, pointer, category, confidence, span }) => (
        <Group key={`${rule} ${pointer} ${span.start}`} gap={6} mt={4}>
          <CategoryBadge category={category} />
          <Text size="xs">
            {rule} {confidence.toFixed(2)}
          </Text>
          <Code fz={11}>{pointer}</Code>
        </Group>
      ))}
    </div>
  )
}

/** A sentence may begin with a decision; one that begins with the name of a rule stays as it is. */
function capitalised(text: string): string {
  return /^(?:permit|depends|divert|forbid) /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text
}

export function Explained({ explanation }: { explanation: Explanation }) {
  const { summary, rules, views, thresholds } = explanation
  const readings = views.filter(({ layer, matches }) => layer !== 'plain' || matches.length > 0)
  return (
    <Accordion variant="separated" multiple defaultValue={['summary']} chevronPosition="left">
      <Accordion.Item value="summary">
        <Accordion.Control>Why</Accordion.Control>
        <Accordion.Panel>
          <List size="sm" spacing={4}>
            {summary.map((sentence) => (
              <List.Item key={sentence}>{capitalised(sentence)}</List.Item>
            ))}
          </List>
          <Text size="xs" c="dimmed" mt="xs">
            The middle band begins at {thresholds.middle}, the high one at {thresholds.high}.
          </Text>
        </Accordion.Panel>
      </Accordion.Item>
      {rules.length > 0 && (
        <Accordion.Item value="rules">
          <Accordion.Control>What each rule saw ({rules.length})</Accordion.Control>
          <Accordion.Panel>
            <SortedTable
              label="Rules"
              name="rules-tried"
              columns={['Rule', 'Category', 'Found', 'Counts', 'Context']}
              minWidth={480}
              rows={rules}
              worths={{
                Rule: ({ rule }) => rule,
                Category: ({ category }) => category,
                Found: ({ weight }) => weight,
                Counts: ({ score }) => score,
                Context: ({ context }) => context
              }}
            >
              {(rule) => (
                <Table.Tr key={rule.rule}>
                  <Table.Td>{rule.rule}</Table.Td>
                  <Table.Td>
                    <CategoryBadge category={rule.category} />
                  </Table.Td>
                  <Table.Td>{rule.weight.toFixed(2)}</Table.Td>
                  <Table.Td>{rule.score.toFixed(2)}</Table.Td>
                  <Table.Td>
                    {rule.context}
                    {rule.context_keys.length > 0 && ` (${rule.context_keys.join(', ')})`}
                  </Table.Td>
                </Table.Tr>
              )}
            </SortedTable>
          </Accordion.Panel>
        </Accordion.Item>
      )}
      {readings.length > 0 && (
        <Accordion.Item value="readings">
          <Accordion.Control>Readings of the text ({readings.length})</Accordion.Control>
          <Accordion.Panel>
            <Stack gap="sm">
              {readings.map(({ layer, text, matches }, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: an explanation never changes
                <Box key={i}>
                  <Group gap="xs" mb={2}>
                    <Badge variant="default" tt="none" size="sm">
                      {layer}
                    </Badge>
                    <Text size="xs" c="dimmed">
                      {[...new Set(matches.map(({ rule }) => rule))].join(', ') || 'nothing matched'}
                    </Text>
                  </Group>
                  {text !== undefined && <MarkedText text={text} detections={[]} />}
                </Box>
              ))}
            </Stack>
          </Accordion.Panel>
        </Accordion.Item>
      )}
    </Accordion>
  )
}
