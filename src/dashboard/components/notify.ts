import { notifications } from '@mantine/notifications'
import { ApiError } from '../api'

export function tell(message: string): void {
  notifications.show({ message, color: 'teal.9', withBorder: true })
}

export function tellError(error: unknown): void {
  if (error instanceof ApiError && error.code === 'sign_in_required') return
  notifications.show({
    title: 'That did not work',
    message: messageOf(error),
    color: 'red.8',
    withBorder: true,
    autoClose: 8_000
  })
}

export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return 'Something went wrong.'
  const message = sentence(error.message)
  if (error instanceof ApiError && error.retryAfter !== undefined && error.retryAfter > 60)
    return `${message} Try again in ${Math.ceil(error.retryAfter / 60)} minutes.`
  return error instanceof ApiError && error.status >= 500 && error.requestId !== undefined
    ? `${message} (request ${error.requestId})`
    : message
}

/** Removes the API's name of the wrong field from the start of a message; the page shows the field's label instead. */
export function sentence(text: string): string {
  const told = text.replace(/^[a-z_]+(?:\.\d+)?: /, '')
  return /^[a-z]+ /.test(told) ? told.charAt(0).toUpperCase() + told.slice(1) : told
}
