import { Text, type TextProps } from '@mantine/core'
import { useEffect, useState } from 'react'

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60]
] as const
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** The time now, in ms, as it passes. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

export function ago(iso: string, now: number): string {
  const seconds = (Date.parse(iso) - now) / 1000
  const unit = units.find(([, length]) => Math.abs(seconds) >= length)
  return unit === undefined
    ? seconds > 0
      ? 'in a moment'
      : 'just now'
    : relative.format(Math.round(seconds / unit[1]), unit[0])
}

/** A duration in short form: `2 d 3 h`, `4 min`. */
export function lengthOf(seconds: number): string {
  const days = Math.floor(seconds / 86_400)
  const hours = Math.floor((seconds % 86_400) / 3_600)
  const minutes = Math.floor((seconds % 3_600) / 60)
  if (days > 0) return hours === 0 ? `${days} d` : `${days} d ${hours} h`
  if (hours > 0) return minutes === 0 ? `${hours} h` : `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min` : `${Math.floor(seconds)} s`
}

export function instant(iso: string): string {
  return new Date(iso).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
}

/** How long ago something was, with the exact time in the title. */
export function Ago({ at, never = 'never', ...props }: { at: string | null; never?: string } & TextProps) {
  const now = useNow(15_000)
  if (at === null) {
    return (
      <Text span inherit c="dimmed" {...props}>
        {never}
      </Text>
    )
  }
  return (
    <Text span inherit className="nowrap" {...props}>
      <time dateTime={at} title={instant(at)}>
        {ago(at, now)}
      </time>
    </Text>
  )
}

/** The time that is left, as `4:59`. */
export function Countdown({ until }: { until: string }) {
  const now = useNow(1_000)
  const left = Math.max(0, Math.ceil((Date.parse(until) - now) / 1000))
  return (
    <Text span inherit role="timer" ff="monospace" aria-label={`${left} seconds left`}>
      {Math.floor(left / 60)}:{String(left % 60).padStart(2, '0')}
    </Text>
  )
}
