// How the dashboard is built: by `config/build.mjs`, into dist/dashboard.
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'

export default {
  root: fileURLToPath(new URL('../src/dashboard', import.meta.url)),
  // Relative, so that the page works under the prefix of a host application.
  base: './',
  plugins: [react()],
  build: {
    emptyOutDir: true,
    // Inlined files would need data: in the policy for what the page may load.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023'
  }
}
