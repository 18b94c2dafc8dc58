/** Finds the optional libraries that read files. Only the child loads them, and only where a route scans files. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** As in the optional dependencies of `package.json`; a test holds the two equal. */
export const packages: Readonly<Record<string, string>> = {
  unpdf: '1.7.0',
  '@cantoo/pdf-lib': '2.11.1',
  yauzl: '3.4.0',
  saxes: '6.0.0',
  parse5: '8.1.1',
  'postal-mime': '4.0.0'
}

/** Further packages for pictures; other languages have packages of the same form. */
export const picturePackages = { 'tesseract.js-core': '7.0.0', '@tesseract.js-data/eng': '1.0.0' } as const

const dataOf = (language: string) => `@tesseract.js-data/${language}`

/**
 * Required packages are missing: a gateway with a route that scans files does not start. The message has the command
 * that installs them.
 */
export class FilesError extends Error {
  override readonly name = 'FilesError'
}

export interface Found {
  /** Paths of a file in each package. */
  entries: string[]
  /** Paths of the OCR data of the languages. */
  languages: string[]
}

/**
 * @param languages of text in pictures; none: pictures are not read
 * @throws FilesError
 */
export function findPackages(languages: readonly string[], resolve: (name: string) => string = resolver()): Found {
  const needed: Record<string, string> = { ...packages }
  if (languages.length > 0) {
    needed['tesseract.js-core'] = picturePackages['tesseract.js-core']
    for (const each of languages) needed[dataOf(each)] = picturePackages['@tesseract.js-data/eng']
  }
  const paths = new Map<string, string>()
  const missing: string[] = []
  for (const name of Object.keys(needed)) {
    try {
      paths.set(name, resolve(name))
    } catch {
      missing.push(name)
    }
  }
  if (missing.length === 0) {
    const data = languages.map((each) =>
      join(dirname(paths.get(dataOf(each))!), '4.0.0_best_int', `${each}.traineddata.gz`)
    )
    return { entries: [...paths.values()], languages: data }
  }
  const line = Object.entries(needed).map(([name, version]) => `${name}@${version}`)
  throw new FilesError(
    `unscannable: scan needs packages that are not installed (${missing.join(', ')}). Install them: npm install ${line.join(' ')}`
  )
}

function resolver(): (name: string) => string {
  const require = createRequire(import.meta.url)
  return (name) => {
    // Some packages have an entry for `import` only: then the folder in node_modules counts.
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
