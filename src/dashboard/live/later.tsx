/** A chart that is drawn after the rest of the page: loading and drawing it takes longer than everything else. */
import { Text } from '@mantine/core'
import { type ReactNode, startTransition, useEffect, useState } from 'react'

export type Charts = typeof import('./charts')
const load = () => import('./charts')

/** @param h what the chart takes, in pixels: nothing moves when it comes */
export function Later({ h, children }: { h: number; children(charts: Charts): ReactNode }) {
  const [charts, setCharts] = useState<Charts | 'lost'>()
  // After the page was painted, and interrupted by any more urgent work.
  useEffect(() => {
    load().then(
      (charts) => startTransition(() => setCharts(charts)),
      () => setCharts('lost')
    )
  }, [])
  if (charts !== undefined && charts !== 'lost') return children(charts)
  return (
    <div style={{ height: h }}>
      {charts === 'lost' && (
        <Text size="sm" c="dimmed" role="alert">
          The chart could not be loaded. Reload the page.
        </Text>
      )}
    </div>
  )
}
