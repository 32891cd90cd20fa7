/**
 * Measures durable commits per second of the LMDB record store: `node bin/run.js bench/store.ts [SECONDS]`. Each thread has 64 pending
 * commits of one 4 KiB record. Each commit expects that its key is absent, as an upload does.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { key } from '../server/store/keys.ts';
import { openLmdbRecordStore } from '../server/store/lmdb/record-store.ts';

const CONCURRENT = 64;
const VALUE_BYTES = 4096;

interface Work {
  readonly folder: string;
  readonly thread: number;
  readonly seconds: number;
}

if (isMainThread) {
  const seconds = Number(process.argv[2] ?? 5);
  for (const threads of [1, 2]) console.log(await measure(threads, seconds));
} else {
  const message = await commitFor(workerData as Work);
  parentPort?.postMessage(message);
}

async function measure(threads: number, seconds: number): Promise<string> {
  // The folder is not below /tmp, which may be in memory: the figure is of durable commits.
  const folder = mkdtempSync(join(process.cwd(), '.bench-store-'));
  try {
    const before = process.cpuUsage();
    const counts = await Promise.all(
      Array.from({ length: threads }, (_, thread) => inThread({ folder, thread, seconds })),
    );
    const { user, system } = process.cpuUsage(before);
    const made = counts.reduce((sum, count) => sum + count, 0);
    // If other work shares the machine, processor time shows the possible rate.
    return `${threads} thread(s): ${Math.round(made / seconds)} commits/s, ${Math.round((user + system) / made)} µs of processor time each`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function inThread(work: Work): Promise<number> {
  return new Promise((resolve, reject) => {
    new Worker(new URL(import.meta.url), { workerData: work }).once('message', resolve).once('error', reject);
  });
}

async function commitFor({ folder, thread, seconds }: Work): Promise<number> {
  const store = openLmdbRecordStore({ folder });
  const value = randomBytes(VALUE_BYTES);
  const until = performance.now() + seconds * 1000;
  let made = 0;
  const caller = async () => {
    while (performance.now() < until) {
      const name = key('o', 'bench', randomBytes(12).toString('hex'), String(thread));
      await store.commit({
        id: randomBytes(16).toString('hex'),
        expect: [{ kind: 'absent', key: name }],
        put: [{ key: name, value }],
      });
      made += 1;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, caller));
  await store.close();
  return made;
}
