/**
 * The form beside the text: the same document in plain words for policy owners. Differences from the base are marked.
 */
import { Accordion, Alert, Group, MultiSelect, SegmentedControl, Skeleton, Stack, Text, Textarea } from '@mantine/core'
import type { Language } from '../constitution-types'
import { BandsForm } from './bands-form'
import { CategoriesForm } from './categories-form'
import { ContextForm } from './context-form'
import { DetectorsForm } from './detectors-form'
import { open, type Path, removeValue, setValue, valueAt } from './edits'
import { BackToBase, type FormPart, Own } from './form-part'
import { TextsForm } from './texts-form'
import type { DraftState } from './use-draft'

const readers = {
  thorough: 'The encoder reads every text: catches the most, and takes some milliseconds per text.',
  balanced: 'The encoder reads the texts that rules and the classifier pick out. The shipped setting.',
  fast: 'No encoder: rules and the classifier decide in microseconds, and miss more.'
}

interface FormProps {
  draft: DraftState
  language: Language
}

export function PolicyForm({ draft, language }: FormProps) {
  const { source, effective, state, setSource: change } = draft
  const opened = open(source)
  if (effective === undefined && state === 'checking') return <Skeleton height={420} aria-label="Loading" />
  // Else values of the text would be shown beside results of an earlier text.
  if (opened === undefined || effective === undefined || state === 'not valid') {
    return (
      <Alert color="gray" variant="light" title="The form needs a valid text">
        Fix the problems marked in the editor; the form then shows the effective values.
      </Alert>
    )
  }
  const isOverlay = valueAt(opened, ['extends']) !== undefined
  const part: FormPart = { opened, effective, language, isOverlay, change }
  const own = (path: Path) => isOverlay && valueAt(opened, path) !== undefined
  const sections = [
    { id: 'bands', title: 'Bands', isOwn: own(['bands']), content: <BandsForm {...part} /> },
    {
      id: 'categories',
      title: 'Categories and outcomes',
      isOwn: own(['categories']),
      content: <CategoriesForm {...part} />
    },
    {
      id: 'detectors',
      title: 'Detectors',
      isOwn: own(['rules']) || own(['without']),
      content: <DetectorsForm {...part} />
    },
    { id: 'context', title: 'Context', isOwn: own(['assume']), content: <ContextForm {...part} /> },
    { id: 'texts', title: 'Texts that people read', isOwn: own(['texts']), content: <TextsForm {...part} /> },
    {
      id: 'general',
      title: 'Encoder, lists, description',
      isOwn: own(['readers']) || own(['lists']),
      content: <General {...part} />
    }
  ]
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {isOverlay
          ? `Extends ${effective.extends ?? String(valueAt(opened, ['extends']))}. Your changes here are written into the text; everything else follows the base.`
          : 'This constitution extends none: your changes here replace the values in the text.'}
      </Text>
      <Accordion multiple defaultValue={['bands', 'categories']} variant="separated">
        {sections.map(({ id, title, isOwn, content }) => (
          <Accordion.Item key={id} value={id}>
            <Accordion.Control>
              <Group gap="xs">
                <Text fw={600} size="sm">
                  {title}
                </Text>
                {isOwn && <Own />}
              </Group>
            </Accordion.Control>
            <Accordion.Panel>{content}</Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </Stack>
  )
}

function General({ opened, effective, language, isOverlay, change }: FormPart) {
  const lists = valueAt(opened, ['lists'])
  const mode = effective.readers as keyof typeof readers
  return (
    <Stack gap="md">
      <div>
        <Text size="sm" fw={500} mb={4}>
          What the encoder reads
        </Text>
        <SegmentedControl
          fullWidth
          aria-label="What the encoder reads"
          data={Object.keys(readers)}
          value={mode}
          onChange={(value) => change(setValue(opened, ['readers'], value))}
        />
        <Text size="xs" c="dimmed" mt={6}>
          {readers[mode]}
        </Text>
        {isOverlay && valueAt(opened, ['readers']) !== undefined && (
          <BackToBase
            label="What the encoder reads: as in the base"
            onClick={() => change(removeValue(opened, ['readers']))}
          />
        )}
      </div>
      <MultiSelect
        label={isOverlay ? 'Lists in addition to those of the base' : 'Shipped lists of phrases'}
        description="Rules refer to a list as $name."
        data={language.lists.map(({ name }) => name)}
        value={Array.isArray(lists) ? lists.map(String) : []}
        onChange={(value) =>
          change(value.length === 0 ? removeValue(opened, ['lists']) : setValue(opened, ['lists'], value))
        }
      />
      <Textarea
        label="Description"
        autosize
        minRows={2}
        defaultValue={String(valueAt(opened, ['description']) ?? '')}
        onBlur={(event) => {
          const text = event.currentTarget.value.trim()
          if (text === String(valueAt(opened, ['description']) ?? '')) return
          change(text === '' ? removeValue(opened, ['description']) : setValue(opened, ['description'], text))
        }}
      />
    </Stack>
  )
}
