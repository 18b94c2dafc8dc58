/** Shows the sign-in page or, for a signed-in user, the pages. */
import { Center, Loader } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Suspense, useEffect } from 'react'
import { api } from './api'
import { ConfirmProvider } from './components/confirm'
import { mayWith } from './components/may'
import { tellError } from './components/notify'
import { refusalSentence } from './components/refusals'
import { Shell } from './components/shell'
import { Failure, Waiting as Lines } from './components/view'
import { keepSignedIn } from './known'
import { pages } from './pages'
import { SignIn, Welcome } from './pages/sign-in'
import { goTo, usePlace } from './router'

export function App() {
  const { page, query } = usePlace()
  const session = useQuery({ queryKey: ['session'], queryFn: api.session, refetchInterval: 60_000 })
  const token = query.get('token')
  const refused = query.get('refused')
  const isSignedIn = session.data?.signed_in === true
  const isKnown = session.data !== undefined
  useEffect(() => {
    if (isKnown) keepSignedIn(isSignedIn)
  }, [isKnown, isSignedIn])
  useEffect(() => {
    // A fresh proof was refused, but the user is still signed in.
    if (!isSignedIn || refused === null) return
    tellError(new Error(refusalSentence(refused)))
    goTo('')
  }, [isSignedIn, refused])
  if (session.isPending) {
    return <Waiting />
  }
  if (session.data === undefined) return <Failure error={session.error} retry={() => session.refetch()} />
  if (page === 'welcome' && token !== null) return <Welcome token={token} session={session.data} />
  const { user, scopes = [] } = session.data
  if (!session.data.signed_in || user === undefined) return <SignIn session={session.data} refused={refused} />
  const open = pages.filter(({ scope }) => mayWith(scopes, scope))
  const current = open.find(({ id }) => id === page) ?? open[0]!
  return (
    <ConfirmProvider user={user} oidc={session.data.ways?.oidc === true}>
      <Shell pages={open} current={current} user={user} scopes={scopes} isPlain={session.data.plain_http === true}>
        <Suspense fallback={<Lines />}>
          <current.Page key={current.id} />
        </Suspense>
      </Shell>
    </ConfirmProvider>
  )
}

function Waiting() {
  return (
    <Center mih="60vh">
      <Loader aria-label="Loading" />
    </Center>
  )
}
