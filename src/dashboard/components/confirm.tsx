/**
 * Actions that hand out keys or weaken the guard need a fresh proof of identity. The gateway says when to ask for it.
 */
import { Button, Modal, PasswordInput, Stack, Text } from '@mantine/core'
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react'
import { ApiError, api, path } from '../api'
import type { Session } from '../types'
import { messageOf } from './notify'

type Guarded = <R>(action: () => Promise<R>) => Promise<R>
interface Asked {
  proved(): void
  given(error: Error): void
}

const Context = createContext<Guarded>((action) => action())

/** Runs an action. If it needs a fresh proof, asks for the proof and runs the action again. */
export const useConfirmed = (): Guarded => useContext(Context)

interface ConfirmProps {
  user: NonNullable<Session['user']>
  /** Whether a company's provider can vouch for people here. */
  oidc: boolean
  children: ReactNode
}

export function ConfirmProvider({ user, oidc, children }: ConfirmProps) {
  const [asked, setAsked] = useState<Asked>()
  const [password, setPassword] = useState('')
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)

  const guarded = useCallback<Guarded>(async (action) => {
    try {
      return await action()
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'confirmation_required') throw error
      await new Promise<void>((proved, given) => setAsked({ proved, given }))
      return action()
    }
  }, [])

  function end(outcome: (asked: Asked) => void): void {
    if (asked !== undefined) outcome(asked)
    setAsked(undefined)
    setPassword('')
    setProblem(undefined)
  }

  async function prove(): Promise<void> {
    setBusy(true)
    try {
      await api.confirm(password)
      end(({ proved }) => proved())
    } catch (error) {
      setProblem(messageOf(error))
    } finally {
      setBusy(false)
    }
  }

  return (
    <Context.Provider value={guarded}>
      {children}
      <Modal
        opened={asked !== undefined}
        onClose={() => end(({ given }) => given(new Error('Nothing was changed: the action was not confirmed.')))}
        title="Confirm that it is you"
        zIndex={400}
      >
        <form
          onSubmit={(event) => {
            event.preventDefault()
            // In React's tree this form is inside the form that asked.
            event.stopPropagation()
            prove()
          }}
        >
          <Stack>
            <Text size="sm">This action needs a fresh proof of your identity, {user.login}.</Text>
            {user.signs_in_with === 'password' ? (
              <>
                <PasswordInput
                  label="Password"
                  autoComplete="current-password"
                  data-autofocus
                  required
                  value={password}
                  error={problem}
                  onChange={(event) => setPassword(event.currentTarget.value)}
                />
                <Button type="submit" loading={busy}>
                  Confirm
                </Button>
              </>
            ) : oidc ? (
              <>
                <Text size="sm">
                  Your company’s identity provider asks for it. Then come back and repeat the action.
                </Text>
                <Button component="a" href={path('/auth/oidc/start', { confirm: '1' })} data-autofocus>
                  Confirm with my company
                </Button>
              </>
            ) : (
              <Text size="sm">
                You sign in with your company’s identity provider, which is no longer configured here.
              </Text>
            )}
          </Stack>
        </form>
      </Modal>
    </Context.Provider>
  )
}
