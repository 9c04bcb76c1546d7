/// <reference types="vitest/config" />
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const API = process.env.DOCRAIL_API_URL ?? 'http://127.0.0.1:8000'

export default defineConfig({
  base: './', // relative to <base>, which the server sets: the console also works under a path prefix
  plugins: [react(), compressed()],
  resolve: { alias: { '@': new URL('./src', import.meta.url).pathname } },
  build: {
    outDir: '../api/built',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0, // the policy loads files, no data: URLs
    chunkSizeWarningLimit: 700,
    reportCompressedSize: false, // tests/console measures it
  },
  server: {
    // The Host header stays that of this server, so that the API sees the same name in it and in Origin (api/middleware/boundary.py).
    proxy: Object.fromEntries(['/v1', '/readyz', '/openapi.json'].map((path) => [path, { target: API }])),
  },
  test: { environment: 'happy-dom', include: ['src/**/*.test.{ts,tsx}'] },
})

/** Writes each script and style compressed too, so that the API compresses nothing while it serves. */
function compressed(): Plugin {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
  return {
    name: 'compressed',
    apply: 'build',
    writeBundle({ dir = '' }, bundle) {
      for (const name of Object.keys(bundle).filter((each) => /\.(js|css)$/.test(each))) {
        const source = readFileSync(join(dir, name))
        writeFileSync(join(dir, `${name}.br`), brotliCompressSync(source, quality))
        writeFileSync(join(dir, `${name}.gz`), gzipSync(source))
      }
    },
  }
}
