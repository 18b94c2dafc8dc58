// Libraries that come in hundreds of small files, each made one module in dist/vendor, of what the program uses of it: to
// load them file by file took a third of every start, and the modules that nobody uses kept some 5 MB.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { rolldown } from 'rolldown'

const libraries = ['typebox', 'kysely']

/** @param out the compiled program; its imports of the libraries are changed to the modules made */
export async function vendor(out) {
  const files = readdirSync(out, { recursive: true })
    .filter((name) => name.endsWith('.js') && !name.startsWith('dashboard'))
    .map((name) => join(out, name))
  for (const library of libraries) {
    const importers = files
      .map((file) => ({ file, source: readFileSync(file, 'utf8') }))
      .filter(({ source }) => source.includes(`from '${library}'`))
    const names = new Set(importers.flatMap(({ file, source }) => importedNames(source, library, file)))
    const module = join(out, 'vendor', `${library}.js`)
    await bundle(library, names, module)
    for (const { file, source } of importers) {
      const path = relative(dirname(file), module).split(sep).join('/')
      const specifier = path.startsWith('.') ? path : `./${path}`
      writeFileSync(file, source.replaceAll(`from '${library}'`, `from '${specifier}'`))
    }
  }
}

/** What a compiled module imports of a library. Throws where it does so in a form that is not understood. */
function importedNames(source, library, file) {
  const found = [...source.matchAll(new RegExp(`^import (?:(\\w+),? )?(?:\\{([^}]*)\\} )?from '${library}';?$`, 'gm'))]
  if (found.length !== source.split(`from '${library}'`).length - 1) {
    throw new Error(`${file}: import ${library} by its default and by names, no other way`)
  }
  return found.flatMap(([, whole, names = '']) => [
    ...(whole === undefined ? [] : ['default']),
    ...names.split(',').flatMap((name) => name.trim().split(' as ')[0] || [])
  ])
}

async function bundle(library, names, file) {
  const entry = `\0${library}`
  const build = await rolldown({
    input: entry,
    platform: 'node',
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? `export { ${[...names].join(', ')} } from '${library}'` : undefined)
      }
    ]
  })
  await build.write({ file, format: 'esm', banner: `/*! ${library}\n${licence(library)}\n*/` })
  await build.close()
}

/** A copy has to carry it. */
function licence(library) {
  const main = createRequire(import.meta.url).resolve(library)
  const folder = main.slice(
    0,
    main.lastIndexOf(`node_modules${sep}${library}${sep}`) + `node_modules/${library}`.length
  )
  const name = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file))
  return readFileSync(join(folder, name), 'utf8').trim().replaceAll('*/', '* /')
}
