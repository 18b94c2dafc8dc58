/** A chart that is drawn once what stands around it is shown: to draw it takes longer than all else of the page. */
import { type ReactNode, startTransition, useEffect, useState } from 'react'

/** @param h what the chart takes, in pixels: nothing moves when it comes */
export function Later({ h, children }: { h: number; children: ReactNode }) {
  const [isDrawn, setDrawn] = useState(false)
  // After the page was painted, and given up for whatever is more urgent.
  useEffect(() => startTransition(() => setDrawn(true)), [])
  return isDrawn ? children : <div style={{ height: h }} />
}
