/** What a node's work costs, in processor time of all its threads, and how long another caller waits meanwhile. */
import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** Whether this machine tells the time of each thread to the nanosecond. */
export const canMeasure = existsSync('/proc/self/task') && existsSync('/proc/self/schedstat')

/** ms of processor time within which a process counts as idle, in so many ms of the clock; the probe's own costs less. */
const idleCpuMs = 2
const lookMs = 20

export interface Cost {
  /** ms of processor time, what it does after its answer included. */
  cpu: number
  /** ms that the other caller waited at most. */
  health: number
}

export class Meter {
  readonly #pid: number
  readonly #threads = new Map<string, number>()
  readonly #probe: ChildProcess
  readonly #answers = new Map<number, (longest: number) => void>()
  #asked = 0

  constructor(url: string, pid: number) {
    this.#pid = pid
    this.#probe = fork(fileURLToPath(new URL('./probe.mjs', import.meta.url)), [url, String(pid)], { execArgv: [] })
    this.#probe.on('message', ({ id, longest }: { id: number; longest: number }) => {
      this.#answers.get(id)?.(longest)
      this.#answers.delete(id)
    })
  }

  /** ms of processor time since the first look; a thread that has ended keeps what it was last seen with. */
  #cpu(): number {
    const tasks = `/proc/${this.#pid}/task`
    for (const id of readdirSync(tasks)) {
      try {
        this.#threads.set(id, Number(readFileSync(`${tasks}/${id}/schedstat`, 'utf8').split(' ')[0]))
      } catch {
        // It ended between the two.
      }
    }
    let ns = 0
    for (const each of this.#threads.values()) ns += each
    return ns / 1e6
  }

  async #idle(): Promise<number> {
    for (let before = this.#cpu(); ; ) {
      await setTimeout(lookMs)
      const now = this.#cpu()
      if (now - before < idleCpuMs) return now
      before = now
    }
  }

  #longest(): Promise<number> {
    const id = ++this.#asked
    return new Promise((resolve) => {
      this.#answers.set(id, resolve)
      this.#probe.send(id)
    })
  }

  /** @throws where the process ends meanwhile */
  async of<T>(work: () => Promise<T>): Promise<{ cost: Cost; value: T }> {
    const before = await this.#idle()
    await this.#longest()
    const value = await work()
    const after = await this.#idle()
    return { cost: { cpu: after - before, health: await this.#longest() }, value }
  }

  close(): void {
    this.#probe.disconnect()
  }
}
