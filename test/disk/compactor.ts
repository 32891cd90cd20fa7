/**
 * Compacts the segments of a data folder, in a process of its own whose calls fail. It reads commands from its standard input, each an array in
 * JSON on a line, and answers each with a line: `fill` stores bodies, makes garbage of most of them and returns the names of the others,
 * `compact` does some rounds and returns what they did, `check` compares objects with their bytes, and `delete` removes objects.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import { createLogger } from '../../platform/output/logger.ts';
import { errorText } from '../../platform/errors/system-error.ts';
import { removeOrphanBlobs, removeQueuedBlobs } from '../../server/objects/garbage-collection/garbage-collection.ts';
import { compactSegments } from '../../server/objects/segments/compact-segments.ts';
import { sealWastefulSegments } from '../../server/objects/segments/seal-wasteful-segments.ts';
import type { BlobId } from '../../server/store/blob-store.ts';
import { openDataFolder } from '../../server/store/data-folder.ts';
import { openFilesBlobStore } from '../../server/store/files/blob-store.ts';
import { openLmdbRecordStore } from '../../server/store/lmdb/record-store.ts';
import { body, put, testLayer } from '../support/objects/test-layer.ts';

const MAX_GARBAGE = 0.05;
/** Longer than bodies wait for their removal, and segments for the readers that are about to open them. */
const ROUND_MS = 120_000;
const [, , path = ''] = process.argv;
const folder = await openDataFolder(path);
const records = openLmdbRecordStore({
  folder: folder.recordsFolder,
  onFailed: (error) => {
    process.stdout.write(`failed: ${error.message}\n`, () => process.kill(process.pid, 'SIGKILL'));
  },
});
let offset = 0;
const now = () => Date.now() + offset;
const blobs = openFilesBlobStore(folder.blobsFolder, { now, segmentBytes: 512 * 1024 });
const { layer } = testLayer({ records: records as never, blobs: blobs as never, clock: now, inlineLimit: 100 });
const log = createLogger({ name: 'test', level: 'silent' });
const sumOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const unmovable = new Set<BlobId>();

/** The name of an object is the digest of its bytes. */
async function fill(): Promise<string> {
  await layer.createBucket('bucket', { location: '' }).catch(() => undefined);
  const names: string[] = [];
  for (let index = 0; index < 12; index += 1) {
    const bytes = randomBytes(40_000 + index * 7_000);
    await layer.putObject(put('bucket', sumOf(bytes), bytes));
    names.push(sumOf(bytes));
  }
  const kept = names.filter((_, index) => index % 4 === 0);
  await remove(names.filter((name) => !kept.includes(name)));
  return JSON.stringify(kept);
}

async function remove(names: readonly string[]): Promise<string> {
  for (const name of names) await layer.deleteObject('bucket', name);
  return 'removed';
}

async function compact(): Promise<string> {
  const done = { moved: 0, removed: 0, failed: 0 };
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch {
      done.failed += 1;
    }
  };
  for (let round = 0; round < 3; round += 1) {
    offset += ROUND_MS;
    await attempt(() => sealWastefulSegments({ records, blobs, maxGarbage: MAX_GARBAGE }));
    await attempt(() => removeQueuedBlobs({ records, blobs, now: now() }));
    await attempt(() => removeOrphanBlobs({ records, blobs, now: now(), grace: ROUND_MS }));
    await attempt(async () => {
      const { moved, removed } = await compactSegments({
        records,
        blobs,
        move: layer.moveBody.bind(layer),
        maxGarbage: MAX_GARBAGE,
        unmovable,
        log,
        now: now(),
      });
      done.moved += moved;
      done.removed += removed;
    });
  }
  return JSON.stringify(done);
}

async function check(names: readonly string[]): Promise<string> {
  for (const name of names) {
    if (sumOf(await body(layer, 'bucket', name)) !== name) return `object ${name} has other bytes`;
  }
  return 'whole';
}

const commands: Readonly<Record<string, (names: readonly string[]) => Promise<string>>> = {
  fill,
  compact,
  check,
  delete: remove,
};
for await (const line of createInterface({ input: process.stdin })) {
  const [command = '', ...names] = JSON.parse(line) as string[];
  const answer = await (commands[command]?.(names) ?? Promise.resolve('no such command')).catch(
    (error: unknown) => `error: ${errorText(error)}`,
  );
  process.stdout.write(`${answer.replaceAll('\n', ' ')}\n`);
}
await records.close();
await folder.close();
