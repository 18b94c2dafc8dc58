/** The libraries that read files. They are optional: only the child loads them, and only where a route scans files is there one. */
import { createRequire } from 'node:module'

/** As in the optional dependencies of `package.json`; a test holds the two equal. */
export const packages: Readonly<Record<string, string>> = {
  unpdf: '1.7.0',
  '@cantoo/pdf-lib': '2.11.1',
  yauzl: '3.4.0',
  saxes: '6.0.0',
  parse5: '8.1.1',
  'postal-mime': '4.0.0'
}

/** Nothing starts without them where a route is to scan files. The message names the line that installs them. */
export class FilesError extends Error {
  override readonly name = 'FilesError'
}

/**
 * @returns the path of each package's entry
 * @throws FilesError
 */
export function findPackages(resolve: (name: string) => string = resolver()): string[] {
  const missing: string[] = []
  const found = Object.keys(packages).flatMap((name) => {
    try {
      return [resolve(name)]
    } catch {
      missing.push(name)
      return []
    }
  })
  if (missing.length === 0) return found
  const line = Object.entries(packages).map(([name, version]) => `${name}@${version}`)
  throw new FilesError(
    `unscannable: scan needs packages that are not installed (${missing.join(', ')}). Install them: npm install ${line.join(' ')}`
  )
}

function resolver(): (name: string) => string {
  const require = createRequire(import.meta.url)
  return (name) => {
    // Some have an entry for `import` alone: a folder of node_modules that holds the package is enough to know.
    try {
      return require.resolve(name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED') {
        const folder = require.resolve.paths(name)?.[0]
        if (folder !== undefined) return `${folder}/${name}/package.json`
      }
      throw error
    }
  }
}
