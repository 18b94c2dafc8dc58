// Hooks of Node's module loader (https://nodejs.org/api/module.html#customization-hooks), see typescript.mjs. Types are
// checked by `tsc` before the tests; here they are only taken out.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const root = new URL('../../', import.meta.url)
const cache = new URL('node_modules/.cache/sluicegate-tests/', root)
const settings = { target: 'es2023', module: 'esnext', verbatimModuleSyntax: true, inlineSourceMap: true }
const { version } = require('typescript/package.json')

/** Sources name each other as `.js`, which is what they become. */
export async function resolve(specifier, context, next) {
  if (/^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL?.startsWith(root.href)) {
    const url = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL)
    if (existsSync(url)) return { url: url.href, format: 'module', shortCircuit: true }
  }
  return next(specifier, context)
}

export async function load(url, context, next) {
  const { pathname } = new URL(url)
  if (!url.startsWith(root.href) || !pathname.endsWith('.ts') || pathname.includes('/node_modules/')) {
    return next(url, context)
  }
  return { format: 'module', source: translated(fileURLToPath(url)), shortCircuit: true }
}

function translated(file) {
  const text = readFileSync(file, 'utf8')
  const key = createHash('sha256')
    .update(JSON.stringify([version, settings, file, text]))
    .digest('hex')
  const kept = new URL(`${key}.js`, cache)
  if (existsSync(kept)) return readFileSync(kept, 'utf8')
  const { outputText } = require('typescript').transpileModule(text, { fileName: file, compilerOptions: settings })
  mkdirSync(cache, { recursive: true })
  // Other processes see all of it or nothing.
  const draft = new URL(`${key}.${process.pid}`, cache)
  writeFileSync(draft, outputText)
  renameSync(draft, kept)
  return outputText
}
