/** A Redis of the test's own, that may be killed and frozen. */
import { type ChildProcess, spawn } from 'node:child_process'
import { Redis } from 'ioredis'

type Teardown = { teardown(fn: () => unknown): unknown }

/** Keeps nothing on disk. Resolves when it answers. */
export async function startRedis(t: Teardown, port: number): Promise<ChildProcess> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', args, { stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  const redis = new Redis(port, '127.0.0.1', { retryStrategy: () => 50, maxRetriesPerRequest: 100 })
  redis.on('error', () => {})
  await redis.ping()
  redis.disconnect()
  return child
}
