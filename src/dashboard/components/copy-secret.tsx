/** A secret that is shown once: copied by hand or by a button, and gone when the dialog closes. */
import { Alert, Button, Code, CopyButton, Group, Stack } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconCopy } from '@tabler/icons-react'

export function CopySecret({ secret, what, onDone }: { secret: string; what: string; onDone(): void }) {
  return (
    <Stack>
      <Alert color="yellow" variant="light" icon={<IconAlertTriangle aria-hidden />}>
        This is the only time that the {what} is shown. Put it where your secrets are kept.
      </Alert>
      <Code block data-testid="secret" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
        {secret}
      </Code>
      <Group justify="space-between">
        <CopyButton value={secret} timeout={3_000}>
          {({ copied, copy }) => (
            <Button
              onClick={copy}
              data-autofocus
              leftSection={copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
            >
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
        <Button variant="default" onClick={onDone}>
          I have kept it
        </Button>
      </Group>
    </Stack>
  )
}
