/** The dashboard in its page. */
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { focusManager, MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api'
import { App } from './app'
import { readableGreys, theme } from './theme'

// The page's policy lets no <style> element in without the nonce of this answer.
const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? ''
// Where the library that locks scrolling behind dialogs looks for it.
Object.assign(globalThis, { __webpack_nonce__: nonce })

/** The next request notices an ended session: then the page checks who is signed in, and shows the sign-in. */
function noticeEnd(error: unknown): void {
  if (error instanceof ApiError && error.code === 'sign_in_required')
    client.invalidateQueries({ queryKey: ['session'] })
}

const client = new QueryClient({
  queryCache: new QueryCache({ onError: noticeEnd }),
  mutationCache: new MutationCache({ onError: noticeEnd }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A refused request will be refused again; an unreachable gateway may be back.
      retry: (count, error) => count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500)
    }
  }
})

const pauseAfterMs = 10 * 60_000
const signs = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const

/**
 * Pages that refresh themselves must not keep a session alive for somebody who has left: without a touch for a while they
 * stop asking, and the gateway ends the session when its idle time is over.
 */
function pauseWhenIdle(): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isPaused = false
  function touched(): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      isPaused = true
      focusManager.setFocused(false)
    }, pauseAfterMs)
    if (!isPaused) return
    isPaused = false
    // From here on it is the window's own focus again.
    focusManager.setFocused(undefined)
  }
  for (const sign of signs) addEventListener(sign, touched, { passive: true })
  touched()
}

pauseWhenIdle()
createRoot(document.getElementById('root')!).render(
  <MantineProvider
    theme={theme}
    cssVariablesResolver={readableGreys}
    defaultColorScheme="auto"
    getStyleNonce={() => nonce}
  >
    <QueryClientProvider client={client}>
      <Notifications position="bottom-right" containerWidth={420} />
      <App />
    </QueryClientProvider>
  </MantineProvider>
)
