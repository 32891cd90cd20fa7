// Makes the npm package of the client in dist/npm: `npm run bundle:client`. It needs nothing but Node 20 or later: every library is in it.
// `npm pack ./dist/npm` makes the tarball for `npm install --global`.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('../..', import.meta.url));
const target = `${root}dist/npm`;
rmSync(target, { recursive: true, force: true });

await build({
  root,
  configFile: false,
  publicDir: false,
  logLevel: 'error',
  ssr: { noExternal: true },
  build: {
    ssr: true,
    target: 'node20',
    license: { fileName: 'THIRD-PARTY-LICENSES.md' },
    outDir: 'dist/npm/lib',
    // Parsing is a third of the start.
    minify: true,
    rolldownOptions: {
      input: { coffer: '.ci/client/entry.ts' },
      output: {
        // For an import of a module of Node, ES modules read each of its exports, and some of those load more: 20 ms in all.
        format: 'cjs',
        banner: (chunk) => (chunk.isEntry ? '#!/usr/bin/env node' : ''),
        entryFileNames: '[name].js',
        chunkFileNames: '[name]-[hash].js',
        // What every command that talks to a server needs is one file.
        codeSplitting: {
          groups: [
            {
              name: 'start',
              test: /\/cli\/(program|s3\/client|s3\/connection\/connections|commands\/data\/listings\/list)\.ts$/,
            },
          ],
        },
      },
    },
  },
});

const { version, description, license } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const manuals = readdirSync(`${root}dist/man`);
mkdirSync(`${target}/man`);
for (const name of manuals) copyFileSync(`${root}dist/man/${name}`, `${target}/man/${name}`);
copyFileSync(`${root}LICENSE`, `${target}/LICENSE`);
writeFileSync(
  `${target}/package.json`,
  `${JSON.stringify(
    {
      name: 'coffer',
      version,
      description: `The client of Coffer. ${description}`,
      license,
      engines: { node: '>=20' },
      bin: { coffer: 'lib/coffer.js' },
      man: manuals.map((name) => `man/${name}`),
      files: ['lib', 'man'],
    },
    undefined,
    2,
  )}\n`,
);
