// Bundles the programs for the image into dist/programs: `npm run bundle`. A server has a thread for each core and some more, and each
// would load three hundred modules: out of a few files it starts in half the time, and so its pod is away for a second less.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { keptPackages } from './packages.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Written beside each other, as deep as the sources are that name files by where they are themselves. */
const modules = {
  coffer: 'cli/main.ts',
  'coffer-server': 'server/main.ts',
  'coffer-server-thread': 'server/thread.ts',
  'coffer-store': 'server/store-tool/main.ts',
  keysvc: 'keysvc/main.ts',
  'coffer-operator': 'operator/main.ts',
  'kubectl-coffer': 'operator/kubectl/main.ts',
};
const input = Object.fromEntries(Object.entries(modules).filter(([, path]) => existsSync(`${root}${path}`)));

await build({
  root,
  configFile: false,
  publicDir: false,
  logLevel: 'error',
  // The client of Kubernetes is not in the image at all (install-packages).
  ssr: {
    noExternal: true,
    external: [...keptPackages, '@kubernetes/client-node', '@kubernetes/client-node/dist/config.js'],
  },
  build: {
    ssr: true,
    target: 'node26',
    outDir: 'dist/programs',
    emptyOutDir: true,
    minify: false,
    rolldownOptions: {
      input,
      output: { format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
  plugins: [
    {
      name: 'thread-of-the-bundle',
      enforce: 'pre',
      transform: {
        filter: { id: /server\/threads\.ts$/ },
        handler: (code) => code.replace("'./thread.ts'", "'./coffer-server-thread.js'"),
      },
    },
  ],
});
