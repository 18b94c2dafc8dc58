/** What hands out keys or weakens the guard needs a fresh proof of who one is: asked for when the gateway says so. */
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

/** Runs an action; where it needs a proof, asks for it and runs it again. */
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
        onClose={() => end(({ given }) => given(new Error('Nothing was done: it was not confirmed.')))}
        title="Confirm that it is you"
        zIndex={400}
      >
        <form
          onSubmit={(event) => {
            event.preventDefault()
            // The form stands in the tree of the form that asked.
            event.stopPropagation()
            prove()
          }}
        >
          <Stack>
            <Text size="sm">This needs a fresh proof of who you are, {user.login}.</Text>
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
                <Text size="sm">Your company’s provider asks for it. Then come back to this, and do it again.</Text>
                <Button component="a" href={path('/auth/oidc/start', { confirm: '1' })} data-autofocus>
                  Confirm with my company
                </Button>
              </>
            ) : (
              <Text size="sm">You sign in with your company’s provider, which is not set up here any more.</Text>
            )}
          </Stack>
        </form>
      </Modal>
    </Context.Provider>
  )
}
