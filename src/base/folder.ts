/** Creates private folders of this process. */
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder and what is above it, for this user alone. Node's own `recursive` never ends where a folder that exists
 * cannot take another (`/proc`). Another process may make the same ones at the same time.
 * @throws the error of the file system, also where a file has its name
 */
export function makeFolder(path: string): void {
  if (make(path) === undefined) return
  if (!existsSync(dirname(path))) makeFolder(dirname(path))
  const failure = make(path)
  if (failure !== undefined) throw failure
}

/** @returns the error where its parent is missing or refuses it */
function make(path: string): Error | undefined {
  try {
    mkdirSync(path, { mode: 0o700 })
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(path).isDirectory()) return undefined
    if (code === 'ENOENT') return error as Error
    throw error
  }
}
