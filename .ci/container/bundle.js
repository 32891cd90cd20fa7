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
  'coffer-server-thread': 'server/process/thread.ts',
  'coffer-server-query': 'server/select/query-process.ts',
  'coffer-store': 'server/store-tool/main.ts',
  keysvc: 'keysvc/main.ts',
  'coffer-operator': 'operator/main.ts',
  'kubectl-coffer': 'operator/plugin/main.ts',
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
    withoutLazyParts('http'),
    {
      name: 'thread-of-the-bundle',
      enforce: 'pre',
      transform: {
        filter: { id: /server\/process\/threads\.ts$/ },
        handler: (code) => code.replace("'./thread.ts'", "'./coffer-server-thread.js'"),
      },
    },
    {
      name: 'queries-of-the-bundle',
      enforce: 'pre',
      transform: {
        filter: { id: /server\/select\/query-processes\.ts$/ },
        handler: (code) => code.replace("'./query-process.ts'", "'./coffer-server-query.js'"),
      },
    },
  ],
});

/**
 * A module of Node, without the parts that it loads when they are touched. An `import` of it touches each: `WebSocket` of node:http
 * takes 75 ms of processor time of each thread's start (Node 26), and nobody wants it. Whoever does is told by the build.
 */
function withoutLazyParts(name) {
  const id = `\0${name}`;
  const parts = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(name)));
  const names = parts.filter(([, part]) => 'value' in part).map(([part]) => part);
  return {
    name: `${name}-without-lazy-parts`,
    enforce: 'pre',
    resolveId: { filter: { id: new RegExp(`^(?:node:)?${name}$`) }, handler: () => ({ id, moduleSideEffects: false }) },
    load: {
      filter: { id: new RegExp(`^${id}$`) },
      handler: () =>
        `const builtin = process.getBuiltinModule('${name}');\nexport default builtin;\nexport const { ${names.join(', ')} } = builtin;`,
    },
  };
}
