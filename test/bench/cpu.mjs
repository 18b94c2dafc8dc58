// CPU that a process has used so far, from /proc: what noise of other programs moves far less than it moves time.
import { readdirSync, readFileSync } from 'node:fs'

/** @returns µs of the main thread, and of all threads that are still there (proc(5), schedstat) */
export function cpuOf(pid) {
  const threads = readdirSync(`/proc/${pid}/task`).map((task) => [Number(task), ranFor(pid, task)])
  return {
    main: threads.find(([task]) => task === pid)?.[1] ?? 0,
    all: threads.reduce((sum, [, micros]) => sum + micros, 0)
  }
}

function ranFor(pid, task) {
  try {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')
    return Number(nanoseconds) / 1000
  } catch {
    // Ended meanwhile.
    return 0
  }
}
