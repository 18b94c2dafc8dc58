/** The second step: a key for the calls of this page and of a first program, made here or brought along. */
import { Anchor, Button, Checkbox, Code, CopyButton, Group, PasswordInput, Stack, Text } from '@mantine/core'
import { IconCheck, IconCopy, IconKey } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { useConfirmed } from '../components/confirm'
import { tellError } from '../components/notify'
import { Step } from './step'

const keyForm = /^slg_(?:live|test)_[0-9A-Za-z]{8}_[0-9A-Za-z]{48}$/

interface KeyStepProps {
  /** Empty until there is one. */
  apiKey: string
  onKey(key: string): void
  /** Of the terms of use; null where there are none. */
  termsUrl: string | null
}

export function KeyStep({ apiKey, onKey, termsUrl }: KeyStepProps) {
  const client = useQueryClient()
  const confirmed = useConfirmed()
  const [isBringing, setBringing] = useState(false)
  const [brought, setBrought] = useState('')
  const [accepts, setAccepts] = useState(false)
  const make = useMutation({
    mutationFn: () =>
      confirmed(() =>
        api.createKey({
          name: 'first-steps',
          environment: 'live',
          scopes: ['safety:evaluate'],
          ...(termsUrl !== null && { accept_terms: true as const })
        })
      ),
    onError: tellError,
    onSuccess: ({ key }) => {
      onKey(key)
      void client.invalidateQueries({ queryKey: ['keys'] })
    }
  })
  const isOdd = brought !== '' && !keyForm.test(brought.trim())

  return (
    <Step
      number={2}
      title="Make a key"
      done={apiKey !== ''}
      about="Programs send this key instead of the backend’s own. It can evaluate and chat, and nothing else."
    >
      {apiKey === '' ? (
        <Stack align="flex-start">
          {termsUrl !== null && !isBringing && (
            <Checkbox
              label={
                <>
                  I accept the{' '}
                  <Anchor href={termsUrl} target="_blank" rel="noreferrer" inherit>
                    terms of use
                  </Anchor>{' '}
                  of this gateway
                </>
              }
              checked={accepts}
              onChange={(event) => setAccepts(event.currentTarget.checked)}
            />
          )}
          {isBringing && (
            <form
              style={{ width: '100%' }}
              onSubmit={(event) => {
                event.preventDefault()
                if (keyForm.test(brought.trim())) onKey(brought.trim())
              }}
            >
              <Group align="flex-end">
                <PasswordInput
                  label="Your key"
                  flex="1 1 280px"
                  maw={640}
                  autoComplete="off"
                  placeholder="slg_live_…"
                  value={brought}
                  error={isOdd ? 'A key looks like slg_live_…' : undefined}
                  onChange={(event) => setBrought(event.currentTarget.value)}
                />
                <Button type="submit" variant="default" disabled={brought === '' || isOdd}>
                  Use it
                </Button>
              </Group>
            </form>
          )}
          <Group>
            {!isBringing && (
              <Button
                leftSection={<IconKey size={16} aria-hidden />}
                loading={make.isPending}
                disabled={termsUrl !== null && !accepts}
                onClick={() => make.mutate()}
              >
                Make a key
              </Button>
            )}
            <Button variant="subtle" onClick={() => setBringing(!isBringing)}>
              {isBringing ? 'Make a new one' : 'I have a key'}
            </Button>
          </Group>
        </Stack>
      ) : (
        <Stack gap="xs">
          <Group gap="sm" align="flex-start">
            <Code block data-testid="secret" className="secret">
              {apiKey}
            </Code>
            <CopyButton value={apiKey} timeout={3_000}>
              {({ copied, copy }) => (
                <Button
                  variant="default"
                  style={{ flexShrink: 0 }}
                  leftSection={copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
                  onClick={copy}
                >
                  {copied ? 'Copied' : 'Copy the key'}
                </Button>
              )}
            </CopyButton>
          </Group>
          <Text size="xs" c="dimmed">
            Only this tab has the key, until you close or reload it: store it where you keep your secrets.{' '}
            <Anchor href="#/keys" inherit>
              Keys
            </Anchor>{' '}
            has its usage, and lets you rotate or revoke it.
          </Text>
        </Stack>
      )}
    </Step>
  )
}
