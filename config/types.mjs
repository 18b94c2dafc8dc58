// Checks the types of sources, tests and dashboard, two programs beside one another. What was found last time is kept in
// node_modules/.cache, so that only what changed is checked again.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { tsc } from './tsc.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

const statuses = await Promise.all(
  ['test', 'src/dashboard'].map(async (project) => {
    const kept = `node_modules/.cache/sluicegate-types/${project.replace('/', '-')}.tsbuildinfo`
    const args = [tsc, '-p', project, '--incremental', '--tsBuildInfoFile', kept]
    const [status] = await once(spawn(process.execPath, args, { cwd: root, stdio: 'inherit' }), 'exit')
    return status
  })
)
process.exit(statuses.every((status) => status === 0) ? 0 : 1)
