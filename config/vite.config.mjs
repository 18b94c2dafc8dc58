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

export default {
  root: fileURLToPath(new URL('../src/dashboard', import.meta.url)),
  // Relative, so that the page works under the prefix of a host application.
  base: './',
  plugins: [react(), compressed],
  build: {
    emptyOutDir: true,
    // Inlined files would need data: in the policy for what the page may load.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023'
  }
}
