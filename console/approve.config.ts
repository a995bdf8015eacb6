import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { head } from './vite.head.ts';

/**
 * Builds the approval page, which people open on a phone from a message, next to the application. It is a build of its own
 * with Preact in the place of React: React, the router and Mantine alone weigh more than the whole page may (100 kB).
 */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [head()],
  resolve: {
    alias: {
      'react/jsx-runtime': 'preact/jsx-runtime',
      'react-dom/client': 'preact/compat/client',
      react: 'preact/compat',
    },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    manifest: '.vite/approve.json',
    license: { fileName: 'licenses-approve.md' },
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: { input: fileURLToPath(new URL('./approve.html', import.meta.url)) },
  },
});
