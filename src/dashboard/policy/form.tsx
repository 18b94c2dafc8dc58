/** The form beside the text: the same document, in the words of who owns the policy. What differs from the base is marked. */
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
  thorough: 'The encoder reads every text. The most is caught, at some milliseconds for each.',
  balanced: 'The encoder reads what rules and the classifier raise. What ships.',
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
  // What the text says would stand beside what an earlier text came to.
  if (opened === undefined || effective === undefined || state === 'not valid') {
    return (
      <Alert color="gray" variant="light" title="The form waits for a text that can be read">
        Mend what the editor marks; the form then shows what holds.
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
      title: 'What reads, lists, description',
      isOwn: own(['readers']) || own(['lists']),
      content: <General {...part} />
    }
  ]
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {isOverlay
          ? `Laid over ${effective.extends ?? String(valueAt(opened, ['extends']))}. What you change here is written into the text; all else follows the base.`
          : 'A constitution by itself: what you change here is changed where it stands in the text.'}
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
        label={isOverlay ? 'Lists beside those of the base' : 'Lists of phrases that ship'}
        description="Rules take their phrases by $name."
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
