/**
 * Pages that refresh themselves must not keep a session alive for somebody who has left: without a touch for a while they
 * stop asking, and the gateway ends the session when its idle time is over.
 */
import { focusManager } from '@tanstack/react-query'

const pauseAfterMs = 10 * 60_000
const signs = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const

export function pauseWhenIdle(): void {
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
