// Hooks of Node's module loader (https://nodejs.org/api/module.html#customization-hooks), see typescript.mjs. Types are
// checked by `tsc` before the tests; here they are only taken out.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'rolldown/utils'

const root = new URL('../../', import.meta.url)

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
  const options = { sourcemap: true, target: 'es2023', typescript: { onlyRemoveTypeImports: true } }
  const { code, map, errors } = transformSync(file, readFileSync(file, 'utf8'), options)
  if (errors.length > 0) throw new SyntaxError(`${file}: ${errors.map(({ message }) => message).join('; ')}`)
  const encoded = Buffer.from(JSON.stringify(map)).toString('base64')
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${encoded}`
}
