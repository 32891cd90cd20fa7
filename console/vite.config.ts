import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** `npx vite console` serves the web application against a console that runs on port 9090. */
export default defineConfig({
  plugins: [react()],
  // The server writes the path of the console into the page.
  base: './',
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    license: { fileName: 'THIRD-PARTY-LICENSES.md' },
    // Inlined as data, an asset would need a wider content security policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: { '/api': 'http://127.0.0.1:9090', '/oauth_callback': 'http://127.0.0.1:9090' },
  },
});
