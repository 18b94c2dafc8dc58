/** The third step: a program to copy, for one's SDK and language. */
import { Autocomplete, Button, Code, CopyButton, Group, SegmentedControl, Select, Stack, Text } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useState } from 'react'
import { type Language, languages, type Sdk, type SdkId, sdks } from './snippets'
import { Step } from './step'

interface ProgramStepProps {
  base: string
  apiKey: string
  model: string
  /** The models that the backend is known to have. */
  models: readonly string[]
  onModel(model: string): void
  /** The SDK that is selected at first. */
  suggested: SdkId
}

export function ProgramStep({ base, apiKey, model, models, onModel, suggested }: ProgramStepProps) {
  const [chosen, setChosen] = useState<SdkId>()
  const [language, setLanguage] = useState<Language>('python')
  const [copied, setCopied] = useState(false)
  const sdk: Sdk = sdks[chosen ?? suggested]
  const offered = (Object.keys(languages) as Language[]).filter((one) => sdk.snippets[one] !== undefined)
  const shown = offered.includes(language) ? language : offered[0]!
  const program = sdk.snippets[shown]!({ base, key: apiKey || 'slg_live_…', model: model || 'your-model' })
  const install = sdk.install?.[shown]
  return (
    <Step
      number={3}
      title="Point your program at it"
      done={copied && apiKey !== ''}
      about="Only the base URL and the key change; your SDK stays as it is."
    >
      <Stack gap="sm">
        <Group align="flex-end" gap="sm">
          <Select
            label="SDK"
            w={200}
            allowDeselect={false}
            value={chosen ?? suggested}
            onChange={(value) => setChosen(value as SdkId)}
            data={Object.entries(sdks).map(([value, { label }]) => ({ value, label }))}
          />
          <Autocomplete
            label="Model"
            w={260}
            limit={200}
            placeholder="its id"
            value={model}
            data={[...models]}
            onChange={onModel}
          />
          <SegmentedControl
            aria-label="Language"
            value={shown}
            onChange={(value) => setLanguage(value as Language)}
            data={offered.map((value) => ({ value, label: languages[value] }))}
          />
        </Group>
        {install !== undefined && (
          <Text size="sm">
            First: <Code>{install}</Code>
          </Text>
        )}
        <Code block tabIndex={0} className="program" aria-label={`Program for ${sdk.label} in ${languages[shown]}`}>
          {program}
        </Code>
        <CopyButton value={program} timeout={3_000}>
          {({ copied: isCopied, copy }) => (
            <Button
              variant="default"
              style={{ alignSelf: 'flex-start' }}
              leftSection={isCopied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
              onClick={() => {
                copy()
                setCopied(true)
              }}
            >
              {isCopied ? 'Copied' : 'Copy the program'}
            </Button>
          )}
        </CopyButton>
        {apiKey === '' && (
          <Text size="xs" c="dimmed">
            Your key replaces slg_live_… as soon as you have made one.
          </Text>
        )}
      </Stack>
    </Step>
  )
}
