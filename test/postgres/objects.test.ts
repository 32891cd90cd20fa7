import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { ObjectLayer } from '../../server/objects/contract/object-layer.ts';
import { createObjectLayer } from '../../server/objects/objects.ts';
import { removeQueuedBlobs, removeOrphanBlobs } from '../../server/objects/garbage-collection/garbage-collection.ts';
import { body, put, randomBody, testLayer } from '../support/objects/test-layer.ts';
import { MemoryBlobStore } from '../../server/store/memory/blob-store.ts';
import { openPostgresRecordStore } from '../../server/store/postgres/record-store.ts';
import { startPostgres, type TestPostgres } from '../support/server/postgres.ts';

let server: TestPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.remove());

it('keeps objects as they were answered while sessions are ended in the middle of commits, and leaves nothing over', async () => {
  const records = await openPostgresRecordStore({
    url: server.url,
    password: server.password,
    log: pino({ enabled: false }),
  });
  const blobs = new MemoryBlobStore();
  const { keys } = testLayer();
  const layer = createObjectLayer({ records, blobs, keys, inlineLimit: 100 });
  await layer.createBucket('bucket', { location: '' });
  const working = { done: false };
  const breaking = endSessions(working);
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const expected = await Promise.all(names.map((name) => changes(layer, name)));
  working.done = true;
  await breaking;
  let large = 0;
  for (const [index, name] of names.entries()) {
    const found = await body(layer, 'bucket', name).catch(absent);
    const possible = expected[index] ?? [];
    expect(possible.some((bytes) => (bytes === undefined ? found === undefined : found?.equals(bytes)))).toBe(true);
    if ((found?.length ?? 0) > 100) large += 1;
  }
  const now = Date.now() + 1000;
  await removeQueuedBlobs({ records, blobs, now, delay: 0 });
  await removeOrphanBlobs({ records, blobs, now, grace: -1000 });
  expect(await Array.fromAsync(blobs.list())).toHaveLength(large);
  await records.close();
}, 360_000);

/** Puts and deletions of one object, one after the other; what may be there in the end. */
async function changes(layer: ObjectLayer, name: string): Promise<(Buffer | undefined)[]> {
  let possible: (Buffer | undefined)[] = [undefined];
  for (let step = 0; step < 40; step += 1) {
    const bytes = step % 4 === 3 ? undefined : randomBody(step % 2 === 0 ? 50 : 5000);
    const change =
      bytes === undefined ? layer.deleteObject('bucket', name) : layer.putObject(put('bucket', name, bytes));
    const code = await change.then(() => undefined, refusal);
    if (code === undefined) possible = [bytes];
    // No answer is no answer; a refusal changed nothing.
    if (code === 'ServiceUnavailable') possible.push(bytes);
  }
  return possible;
}

function refusal(error: unknown): string {
  if (!(error instanceof S3Error)) throw error;
  expect(['ServiceUnavailable', 'SlowDown']).toContain(error.code);
  return error.code;
}

function absent(error: unknown): undefined {
  expect(error).toMatchObject({ code: 'NoSuchKey' });
}

async function endSessions(working: { readonly done: boolean }): Promise<void> {
  while (!working.done) {
    await sleep(randomInt(30));
    await server.asSuperuser(
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'coffer' order by random() limit 2`,
    );
  }
}
