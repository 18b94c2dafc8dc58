// How the dashboard is built: by `config/build.mjs`, into dist/dashboard.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'

/** Compresses the files once here, not for every visitor. */
const compressed = {
  name: 'compressed',
  writeBundle({ dir }) {
    const assets = join(dir, 'assets')
    for (const name of readdirSync(assets).filter((name) => !/\.(?:br|gz)$/.test(name))) {
      const bytes = readFileSync(join(assets, name))
      writeFileSync(join(assets, `${name}.br`), brotliCompressSync(bytes))
      writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes))
    }
  }
}

/** What the first script imports once it runs: named in the page, it is fetched beside that script and not after it. */
const preloaded = {
  name: 'preloaded',
  transformIndexHtml: {
    order: 'post',
    handler(page, { bundle = {} }) {
      const chunks = Object.values(bundle).filter(({ type }) => type === 'chunk')
      const names = new Set()
      const add = (name) => {
        if (names.has(name)) return
        names.add(name)
        for (const other of bundle[name]?.imports ?? []) add(other)
      }
      for (const { fileName, name } of chunks) if (name === 'start') add(fileName)
      const missing = [...names].filter((name) => !page.includes(name))
      return missing.map((name) => ({
        tag: 'link',
        attrs: { rel: 'modulepreload', crossorigin: true, href: `./${name}` },
        injectTo: 'head'
      }))
    }
  }
}

export default {
  root: fileURLToPath(new URL('../src/dashboard', import.meta.url)),
  // Relative, so that the page works under the prefix of a host application.
  base: './',
  plugins: [react(), preloaded, compressed],
  build: {
    emptyOutDir: true,
    // Inlined files would need data: in the policy for what the page may load.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    rolldownOptions: {
      output: {
        // What several views share, in one file: a browser asks for six at a time, and each costs a way there and back.
        codeSplitting: {
          groups: [
            // What the first script needs, and nothing with it.
            {
              name: 'ask',
              priority: 3,
              test: /src\/dashboard\/(?:api|known|place|pages\/loads)\.ts|vite\/preload-helper/
            },
            {
              name: 'shared',
              priority: 2,
              minShareCount: 2,
              test: /node_modules\/(?:react|react-dom|scheduler|clsx|@floating-ui|@tanstack|@tabler|@mantine\/(?!charts)[\w-]+|react-[\w-]+)\//
            },
            { name: 'common', priority: 1, minShareCount: 2, test: /src\/dashboard\/(?:components\/|\w+\.tsx?)/ }
          ]
        }
      }
    }
  }
}
