/** The outcome of each category by band, with its measured shares. */
import { Group, NativeSelect, Stack, Text } from '@mantine/core'
import { categoryName } from '../components/badges'
import type { Category } from '../types'
import { removeValue, setValue, valueAt } from './edits'
import { BackToBase, type FormPart, Own } from './form-part'
import { pointNear, shareOf } from './points'

const outcomes = {
  middle: [
    { value: 'ask', label: 'ask for context' },
    { value: 'divert', label: 'a person decides' },
    { value: 'permit', label: 'permit, and note' }
  ],
  high: [
    { value: 'forbid', label: 'refuse' },
    { value: 'divert', label: 'a person decides' },
    { value: 'permit', label: 'permit, and note' }
  ]
}

export function CategoriesForm(part: FormPart) {
  const { language } = part
  return (
    <Stack gap={0}>
      {language.categories.map((category) => (
        <CategoryRow key={category} category={category} {...part} />
      ))}
      <Text size="xs" c="dimmed" mt="sm">
        Caught: share of the texts labelled with the category whose score in it reaches its bands. Wrongly: share of
        harmless texts that do.
      </Text>
    </Stack>
  )
}

function CategoryRow({ category, opened, effective, language, isOverlay, change }: FormPart & { category: Category }) {
  const held = effective.categories[category]
  const isOwn = isOverlay && valueAt(opened, ['categories', category]) !== undefined
  const name = categoryName(category)
  return (
    <div className="form-row wide">
      <div>
        <Group gap={6}>
          <Text size="sm" fw={600} tt="capitalize">
            {name}
          </Text>
          {isOwn && <Own />}
        </Group>
        <Measured category={category} points={language.points} bands={effective.bands} />
        {isOwn && (
          <BackToBase
            label={`${name}: as in the base`}
            onClick={() => change(removeValue(opened, ['categories', category]))}
          />
        )}
      </div>
      {(['middle', 'high'] as const).map((band) => (
        <NativeSelect
          key={band}
          size="xs"
          label={`${band} band`}
          aria-label={`${name}, ${band} band`}
          data={outcomes[band]}
          value={held[band]}
          onChange={(event) => change(setValue(opened, ['categories', category, band], event.currentTarget.value))}
        />
      ))}
    </div>
  )
}

interface MeasuredProps {
  category: Category
  points: FormPart['language']['points']
  bands: { middle: number; high: number }
}

function Measured({ category, points, bands }: MeasuredProps) {
  const found = points?.categories[category]
  if (points === null || found === undefined) return null
  const { index } = pointNear(points, bands.middle)
  return (
    <Text size="xs" c="dimmed">
      {found.harmful === null ? 'caught: too few texts' : `caught: ${shareOf(found.harmful, index)}`} · wrongly:{' '}
      {shareOf(found.harmless, index)}
    </Text>
  )
}
