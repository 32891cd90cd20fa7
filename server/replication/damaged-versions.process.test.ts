import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ReplicationConfiguration, targetArn } from '../../protocol/s3/bucket-replication.ts';
import { damageRecord, put, testLayer } from '../../test/support/objects/test-layer.ts';
import { remoteTarget } from '../../test/support/replication/remote-target.ts';
import { within } from '../store/keys.ts';
import { replicationQueue } from '../objects/replication/queue-replication.ts';
import { commitOnce } from '../store/commits.ts';
import { deliverQueue } from '../outbox/deliver-queue.ts';
import { ReplicationDelivery } from './replicate-to.ts';
import { TargetStats } from './replication-stats.ts';

const id = '6a9a8c5e-0c39-4b0b-9d58-1f8e2f0b8a11';
const arn = targetArn(id, 'other');
const everything: ReplicationConfiguration = {
  rules: [
    {
      id: 'r',
      enabled: true,
      priority: 1,
      filter: {},
      destination: arn,
      target: arn,
      deleteMarkers: true,
      deletes: true,
      replicaModifications: true,
      existingObjects: true,
    },
  ],
};

/** A target that takes everything whose body comes whole. */
const received = new Set<string>();
const target = createServer((request, response) => {
  request.on('end', () => {
    received.add(`${request.method} ${request.url?.split('?')[0]}`);
    response.writeHead(200, { etag: '"e"' }).end();
  });
  request.on('error', () => undefined);
  request.resume();
});
let endpoint = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    target.listen(0, '127.0.0.1', resolve);
  });
  endpoint = `127.0.0.1:${(target.address() as AddressInfo).port}`;
});
afterAll(() => {
  target.closeAllConnections();
  target.close();
});

/** More than are delivered at a time. */
const damaged = Array.from({ length: 20 }, (_, at) => `damaged-${at}`);

/** A replicated bucket with the versions that a test damages. */
async function replicated() {
  received.clear();
  const made = testLayer({ inlineLimit: 8 });
  const { layer, records } = made;
  await layer.createBucket('bucket', { location: '' });
  await layer.putBucketVersioning('bucket', { status: 'Enabled' });
  await layer.putBucketReplication('bucket', everything);
  for (const key of damaged) await layer.putObject(put('bucket', key, 'x'.repeat(100)));
  const stored = remoteTarget(id, { endpoint });
  /** Delivers until all is there that can be. */
  const deliver = async (until: () => void | Promise<void>) => {
    const ended = new AbortController();
    const stats = await TargetStats.open(records, id);
    const log = { info: () => undefined, warn: () => undefined };
    const delivery = new ReplicationDelivery({ stored, objects: layer, stats, signal: ended.signal, log });
    const running = deliverQueue({
      records,
      target: replicationQueue(id),
      delivery,
      bounds: { events: 1_000, bytes: 1_000_000, whenFull: 'drop' },
      signal: ended.signal,
      random: randomBytes,
      log,
      wait: () => endOfTurn(),
    });
    await vi.waitFor(until, { timeout: 60_000, interval: 10 });
    ended.abort(new Error('the test is over'));
    await running.catch(() => undefined);
    delivery.close();
  };
  return { ...made, deliver };
}

describe('replication goes on with other versions', () => {
  it('where the blobs of some are missing, which have failed', async () => {
    const { layer, blobs, deliver } = await replicated();
    for await (const { id: blob } of blobs.list()) await blobs.remove(blob);
    await layer.putObject(put('bucket', 'last', 'x'.repeat(100)));
    await deliver(async () => {
      expect([...received]).toEqual(['PUT /other/last']);
      for (const key of damaged)
        expect((await layer.headObject('bucket', key)).replication).toMatchObject({ status: 'FAILED' });
    });
  });

  it('where the records of some are damaged', async () => {
    const made = await replicated();
    const { layer, deliver } = made;
    for (const key of damaged) await damageRecord(made, 'bucket', key);
    await layer.putObject(put('bucket', 'last', 'x'.repeat(100)));
    await deliver(() => expect([...received]).toEqual(['PUT /other/last']));
  });

  it('where records of the queue are damaged', async () => {
    const { layer, records, deliver } = await replicated();
    for await (const item of records.scan(within('outbox', replicationQueue(id)))) {
      if (item.kind !== 'entry') continue;
      await commitOnce(records, { put: [{ key: item.key, value: Buffer.from('damaged') }] }, randomBytes);
    }
    await layer.putObject(put('bucket', 'last', 'x'.repeat(100)));
    await deliver(() => expect([...received]).toEqual(['PUT /other/last']));
  });
});
