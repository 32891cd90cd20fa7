/**
 * Makes test/upgrades/format-N.json with the server of a checkout: `node bin/run.js test/upgrades/make-folder.ts CHECKOUT`. Run it with the
 * last commit that writes format N, before a commit that changes the format. The checkout needs its packages (`npm ci`).
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { RunningServer, StartOptions } from '../support/server/start-server.ts';
import { settings, writeContents } from './contents.ts';
import { packFolder } from './stored-folder.ts';

interface Harness {
  readonly startServer: (options: StartOptions) => Promise<RunningServer>;
  readonly untilReady: (server: RunningServer) => Promise<void>;
}

const [checkout] = process.argv.slice(2);
if (checkout === undefined) throw new Error('usage: node bin/run.js test/upgrades/make-folder.ts CHECKOUT');
const harness = pathToFileURL(resolve(checkout, 'test/support/server/start-server.ts')).href;
const { startServer, untilReady } = (await import(harness)) as Harness;

const folder = await mkdtemp(join(tmpdir(), 'coffer-upgrades-'));
try {
  const server = await startServer({ env: settings, folder });
  try {
    await untilReady(server);
    await writeContents(server);
  } finally {
    await server.stop();
  }
  const { format } = JSON.parse(await readFile(join(folder, 'format.json'), 'utf8')) as { format: number };
  const target = new URL(`format-${format}.json`, import.meta.url);
  await writeFile(target, `${JSON.stringify(await packFolder(folder), undefined, 2)}\n`);
  process.stdout.write(`${target.pathname}\n`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
