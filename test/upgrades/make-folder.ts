/**
 * Makes test/upgrades/format-N.json with the server of a checkout: `node bin/run.js test/upgrades/make-folder.ts CHECKOUT N`. Run it with the
 * last commit that writes records of format N, before a commit that changes the format. The checkout needs its packages (`npm ci`).
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { RunningServer, StartOptions } from '../support/server/start-server.ts';
import { settings, writeContents } from './contents.ts';
import { writeForeignVersions } from './foreign-versions.ts';
import { packFolder } from './stored-folder.ts';

interface Harness {
  readonly startServer: (options: StartOptions) => Promise<RunningServer>;
  readonly untilReady: (server: RunningServer) => Promise<void>;
}

const [checkout, format] = process.argv.slice(2);
if (checkout === undefined || format === undefined) {
  throw new Error('usage: node bin/run.js test/upgrades/make-folder.ts CHECKOUT N');
}
const harness = pathToFileURL(resolve(checkout, 'test/support/server/start-server.ts')).href;
const { startServer, untilReady } = (await import(harness)) as Harness;

const folder = await mkdtemp(join(tmpdir(), 'coffer-upgrades-'));
try {
  const server = await startServer({ env: settings, folder });
  try {
    await untilReady(server);
    await writeContents(server);
    if (Number(format) >= 4) await writeForeignVersions(server);
  } finally {
    await server.stop();
  }
  const target = new URL(`format-${format}.json`, import.meta.url);
  await writeFile(target, `${JSON.stringify(await packFolder(folder), undefined, 2)}\n`);
  process.stdout.write(`${target.pathname}\n`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
