/** The bands: where the middle and the high band begin, and which measured texts reach them. */
import { Group, NumberInput, RangeSlider, Stack, Table, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { open, removeValue, setValue, valueAt } from './edits'
import { BackToBase, type FormPart } from './form-part'
import { pointNear, shareOf } from './points'

export function BandsForm({ opened, effective, language, isOverlay, change }: FormPart) {
  const { middle, high } = effective.bands
  const [shown, setShown] = useState<[number, number]>([middle, high])
  useEffect(() => setShown([middle, high]), [middle, high])

  function put([from, to]: [number, number]): void {
    const [low, top] = [Math.max(0.01, Math.min(from, 0.98)), Math.max(to, Math.min(from, 0.98) + 0.01)]
    setShown([low, top])
    if (low === middle && top === high) return
    const bands = valueAt(opened, ['bands'])
    // An overlay names both or none.
    if (bands === undefined) change(setValue(opened, ['bands'], { middle: low, high: top }))
    else {
      const first = setValue(opened, ['bands', 'middle'], low)
      change(replaced(first, top) ?? first)
    }
  }

  const points = language.points
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        Every text gets a score in each category. Below the middle band it is permitted; from there on the outcomes of
        the category apply.
      </Text>
      <RangeSlider
        aria-label="Bands"
        thumbFromLabel="The middle band begins at"
        thumbToLabel="The high band begins at"
        min={0.05}
        max={1}
        step={0.01}
        minRange={0.01}
        value={shown}
        onChange={setShown}
        onChangeEnd={put}
        label={(value) => value.toFixed(2)}
        marks={[0.25, 0.5, 0.75].map((value) => ({ value, label: String(value) }))}
        mb="lg"
        color="yellow.8"
      />
      <Group grow>
        <NumberInput
          label="Middle from"
          size="sm"
          min={0.01}
          max={0.98}
          step={0.01}
          decimalScale={2}
          value={shown[0]}
          onChange={(value) => typeof value === 'number' && setShown([value, shown[1]])}
          onBlur={() => put(shown)}
        />
        <NumberInput
          label="High from"
          size="sm"
          min={0.02}
          max={1}
          step={0.01}
          decimalScale={2}
          value={shown[1]}
          onChange={(value) => typeof value === 'number' && setShown([shown[0], value])}
          onBlur={() => put(shown)}
        />
      </Group>
      {isOverlay && valueAt(opened, ['bands']) !== undefined && (
        <BackToBase label="Bands: as in the base" onClick={() => change(removeValue(opened, ['bands']))} />
      )}
      {points === null ? (
        <Text size="xs" c="dimmed">
          This version has no measured figures.
        </Text>
      ) : (
        <div>
          <Table verticalSpacing={4} horizontalSpacing="xs" fz="sm">
            <Table.Caption>
              Of {points.measured.rows.toLocaleString('en')} public texts, judged by {points.measured.policy}, at the
              nearest measured scores {pointNear(points, shown[0]).point.toFixed(2)} and{' '}
              {pointNear(points, shown[1]).point.toFixed(2)}. Detectors other than the shipped ones change these shares.
            </Table.Caption>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Texts</Table.Th>
                <Table.Th ta="right">reach middle</Table.Th>
                <Table.Th ta="right">reach high</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {[false, true].map((harmful) =>
                points.groups
                  .filter((group) => group.harmful === harmful)
                  .map((group) => (
                    <Table.Tr key={`${group.name} ${harmful}`}>
                      <Table.Td>
                        <Text span size="sm" c={harmful ? 'var(--mantine-color-error)' : undefined}>
                          {group.name}
                        </Text>
                      </Table.Td>
                      <Table.Td ta="right" className="nowrap">
                        {shareOf(group, pointNear(points, shown[0]).index)}
                      </Table.Td>
                      <Table.Td ta="right" className="nowrap">
                        {shareOf(group, pointNear(points, shown[1]).index)}
                      </Table.Td>
                    </Table.Tr>
                  ))
              )}
            </Table.Tbody>
          </Table>
        </div>
      )}
    </Stack>
  )
}

function replaced(source: string, high: number): string | undefined {
  const again = open(source)
  return again && setValue(again, ['bands', 'high'], high)
}
