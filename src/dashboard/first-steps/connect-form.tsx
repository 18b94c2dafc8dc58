/** The form for a backend: its API, its address, and its own key. */
import { Alert, Button, Group, PasswordInput, Select, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ApiError } from '../api'
import { messageOf, sentence } from '../components/notify'
import type { BackendApi } from '../types'
import { apis } from './ask'

/** The suggested address, by API. */
const usual: Record<BackendApi, string> = {
  openai: 'https://api.openai.com',
  anthropic: 'https://api.anthropic.com',
  gemini: 'https://generativelanguage.googleapis.com',
  ollama: 'http://127.0.0.1:11434',
  azure: 'https://….openai.azure.com'
}

interface ConnectFormProps {
  busy: boolean
  error: Error | null
  onSubmit(backend: { url: string; api: BackendApi; key?: string }): void
  onCancel(): void
}

export function ConnectForm({ busy, error, onSubmit, onCancel }: ConnectFormProps) {
  const [backend, setBackend] = useState<BackendApi>('openai')
  const [url, setUrl] = useState('')
  const [key, setKey] = useState('')
  const at = (field: string) =>
    error instanceof ApiError && error.field === field ? sentence(error.message) : undefined
  const isOpenHttp = /^http:\/\/(?!127\.|localhost|\[::1\])/.test(url) && key !== ''
  return (
    <form
      style={{ width: '100%' }}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit({ url: url.trim(), api: backend, ...(key !== '' && { key }) })
      }}
    >
      <Stack gap="sm" maw={640}>
        <Select
          label="It speaks"
          allowDeselect={false}
          value={backend}
          onChange={(value) => setBackend(value as BackendApi)}
          data={Object.entries(apis).map(([value, label]) => ({ value, label }))}
        />
        <TextInput
          label="Address"
          description="Host name or address with its port, as the gateway reaches it."
          placeholder={usual[backend]}
          type="url"
          required
          data-autofocus
          spellCheck={false}
          value={url}
          error={at('url')}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
        <PasswordInput
          label="Its key"
          description="Leave empty if the backend needs none. The key is stored encrypted; your programs never see it."
          autoComplete="off"
          value={key}
          error={at('key')}
          onChange={(event) => setKey(event.currentTarget.value)}
        />
        {isOpenHttp && (
          <Alert color="yellow" variant="light">
            The key would travel unencrypted: this address uses http and is not on this machine.
          </Alert>
        )}
        {error !== null && at('url') === undefined && at('key') === undefined && (
          <Alert color="red" variant="light" role="alert">
            {messageOf(error)}
          </Alert>
        )}
        <Group>
          <Button type="submit" loading={busy}>
            Check and connect
          </Button>
          <Button variant="default" onClick={onCancel} disabled={busy}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
