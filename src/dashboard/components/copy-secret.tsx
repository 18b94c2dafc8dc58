/** A secret that is shown once, in a dialog that only its own button closes, so that no stray key press loses it. */
import { Alert, Button, Code, CopyButton, Group, Modal, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconCopy } from '@tabler/icons-react'

interface SecretDialogProps {
  title: string
  /** Undefined: the dialog is closed. */
  secret: string | undefined
  /** The name of the secret, as in the middle of a sentence. */
  what: string
  about?: string
  onDone(): void
}

export function SecretDialog({ title, secret, what, about, onDone }: SecretDialogProps) {
  return (
    <Modal
      opened={secret !== undefined}
      onClose={onDone}
      title={title}
      size="lg"
      closeOnEscape={false}
      closeOnClickOutside={false}
      withCloseButton={false}
    >
      {secret !== undefined && (
        <Stack>
          {about !== undefined && <Text size="sm">{about}</Text>}
          <Alert color="yellow" variant="light" icon={<IconAlertTriangle aria-hidden />}>
            The {what} is shown only this once. Store it where you keep your secrets.
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
      )}
    </Modal>
  )
}
