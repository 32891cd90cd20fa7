// Bundles the programs for the image into dist/programs: `npm run bundle`. A server has a thread for each core and some more, and each
// would load three hundred modules: out of a few files it starts in half the time, and so its pod is away for a second less.
// `--out FOLDER` names another folder below `dist`, and `--if-changed` does nothing when it holds the bundle of these sources.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'vite';
import { fewChunks } from './chunks.js';
import { licenceList, writeLicences } from './licences.js';
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
/** What is loaded at each start: by a program, and by a thread of the server for its role. */
const starts = {
  ...Object.fromEntries(Object.entries(modules).map(([name, path]) => [name, [path]])),
  http: ['server/process/http-thread.ts'],
  background: ['server/process/background-thread.ts'],
  // The background thread loads the console when S3 is served, and not at all with SVC_BROWSER=off.
  console: [
    'server/process/open-operations.ts',
    'server/console/create-console.ts',
    'server/process/session-s3.ts',
    'server/process/session-admin.ts',
  ],
};
const { values } = parseArgs({ options: { out: { type: 'string' }, 'if-changed': { type: 'boolean' } } });
const out = join(root, values.out ?? 'dist/programs');
const stamp = 'sources.sha256';
const state = sourcesState();
if (values['if-changed'] && existsSync(join(out, stamp)) && readFileSync(join(out, stamp), 'utf8') === state)
  process.exit();
/** Programs that run load parts of the bundle later, so that it is replaced whole. */
const made = `${out}.${process.pid}`;

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
    outDir: made,
    // The licences of the bundled packages demand that their texts go with them.
    license: { fileName: licenceList },
    emptyOutDir: true,
    minify: false,
    rolldownOptions: {
      input,
      output: {
        format: 'esm',
        entryFileNames: '[name].js',
        chunkFileNames: '[name]-[hash].js',
        codeSplitting: fewChunks(root, starts),
        // Names stay, for the stacks of errors; blanks and comments are a third of the bytes.
        minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
      },
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

writeLicences(made);
writeFileSync(join(made, stamp), state);
rmSync(out, { recursive: true, force: true });
renameSync(made, out);
// The programs read their version two folders above the sources that they are made of.
copyFileSync(join(root, 'package.json'), join(out, '..', 'package.json'));

/** A digest of all that the bundle is made of: the sources, the packages and this file. */
function sourcesState() {
  const rooms = 'protocol,platform,server,keysvc,operator,cli';
  const sources = globSync(`{${rooms}}/**/*.{ts,tsx,js,json}`, {
    cwd: root,
    exclude: ['**/*.test.*'],
  });
  const hash = createHash('sha256');
  for (const path of [
    'package-lock.json',
    '.ci/container/bundle.js',
    '.ci/container/chunks.js',
    '.ci/container/packages.js',
    '.ci/container/licences.js',
    ...sources.toSorted(),
  ])
    hash.update(`${path}\n`).update(readFileSync(join(root, path)));
  return hash.digest('hex');
}

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
