import { Button, Modal, PasswordInput, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { messageOf, tell } from './notify'

export function PasswordDialog({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const change = useMutation({
    mutationFn: api.changePassword,
    onSuccess: () => {
      tell('Your password is changed. Your other sessions have ended.')
      setCurrent('')
      setPassword('')
      onClose()
    }
  })
  return (
    <Modal opened={opened} onClose={onClose} title="Change password">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          change.mutate({ current, password })
        }}
      >
        <Stack>
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            value={current}
            onChange={(event) => setCurrent(event.currentTarget.value)}
          />
          <PasswordInput
            label="New password"
            description="Twelve characters or more."
            autoComplete="new-password"
            required
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          {change.isError && (
            <Text role="alert" c="var(--mantine-color-error)" size="sm">
              {messageOf(change.error)}
            </Text>
          )}
          <Button type="submit" loading={change.isPending}>
            Change password
          </Button>
        </Stack>
      </form>
    </Modal>
  )
}
