/** A definition of an MCP server that waits for a person: its changes, and its full text. */
import { Code, Divider, Group, Stack, Table, Text } from '@mantine/core'
import type { ReviewDetail } from '../types'
import { SortedTable } from './data-table'
import { MarkedText } from './marked-text'

interface Change {
  /** RFC 6901, within the definition. */
  at: string
  /** Absent where the value was added or removed. */
  was?: unknown
  is?: unknown
}

export interface Definition {
  server: string
  kind: string
  name: string
  difference: Change[]
  is: unknown
  was: unknown
}

/** @returns undefined where the review is about something else, or its text is gone */
export function definitionOf({ surface, text }: Pick<ReviewDetail, 'surface' | 'text'>): Definition | undefined {
  return surface === 'mcp_definition' && text !== null ? (JSON.parse(text) as Definition) : undefined
}

const reasons: Readonly<Record<string, string>> = {
  definition_changed: 'It is another than the one that was let through.',
  definition_new: 'Nobody has permitted it yet.',
  definition_doubtful: 'The policy requires a decision by a person.',
  definition_look_alike: 'Its name looks like the name of a tool of another server.'
}

/** A short form for the row in the queue. */
export function excerptOfDefinition({ kind, name, server, difference }: Definition): string {
  const [first] = difference
  const change = first === undefined ? '' : `: ${first.at} is ${shown(first.is)}`
  return `${kind} ${name} of ${server}${change}`
}

const shown = (value: unknown): string =>
  value === undefined ? 'nothing' : typeof value === 'string' ? value : JSON.stringify(value)

export function DefinitionReview({ review, definition }: { review: ReviewDetail; definition: Definition }) {
  const { server, kind, name, difference, is } = definition
  return (
    <Stack gap="md">
      <div>
        <Group gap={8}>
          <Text fw={600}>
            {kind} <Code>{name}</Code> of the MCP server <Code>{server}</Code>
          </Text>
        </Group>
        {review.matched_rules.flatMap((rule) =>
          reasons[rule] === undefined
            ? []
            : [
                <Text key={rule} size="sm" c="dimmed">
                  {reasons[rule]}
                </Text>
              ]
        )}
      </div>
      {difference.length > 0 && (
        <SortedTable
          label="What has changed"
          columns={['Place', 'Was', 'Is']}
          minWidth={480}
          rows={difference}
          worths={{ Place: ({ at }) => at }}
        >
          {(change) => (
            <Table.Tr key={change.at}>
              <Table.Td>
                <Code fz={11}>{change.at}</Code>
              </Table.Td>
              {[change.was, change.is].map((value, i) => (
                <Table.Td key={i === 0 ? 'was' : 'is'}>
                  {value === undefined ? (
                    <Text size="sm" c="dimmed">
                      nothing
                    </Text>
                  ) : (
                    <MarkedText text={shown(value)} detections={[]} />
                  )}
                </Table.Td>
              ))}
            </Table.Tr>
          )}
        </SortedTable>
      )}
      <div>
        <Divider label="All of it, as it is" labelPosition="left" mb={6} />
        <MarkedText text={typeof is === 'string' ? is : JSON.stringify(is, null, 2)} detections={[]} />
      </div>
    </Stack>
  )
}
