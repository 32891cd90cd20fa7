import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { put, testLayer, body } from '../../../test/support/objects/test-layer.ts';
import { targetArn, type ReplicationConfiguration } from '../../../protocol/s3/bucket-replication.ts';
import { commitOnce } from '../../store/commits.ts';
import { within } from '../../store/keys.ts';
import type { LeftUploads } from '../contract/left-uploads.ts';
import type { ObjectLayer, Replica } from '../contract/object-layer.ts';
import { recordKeys } from '../records/record-format.ts';
import { decodeReplication, type QueuedReplication, replicationQueue } from './queue-replication.ts';

const bucket = 'bucket';
const target = '6a9a8c5e-0c39-4b0b-9d58-1f8e2f0b8a11';
const arn = targetArn(target, 'other');
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

const may = { tags: true, retention: true, bypassGovernance: true, legalHold: true };

async function versioned(options: Parameters<typeof testLayer>[0] = {}) {
  const made = testLayer({ inlineLimit: 8, ...options });
  await made.layer.createBucket(bucket, { location: '' });
  await made.layer.putBucketVersioning(bucket, { status: 'Enabled' });
  return made;
}

async function listing(layer: ObjectLayer) {
  const request = { bucket, prefix: '', delimiter: '', keyMarker: '', versionIdMarker: undefined, limit: 1_000 };
  const { versions } = await layer.listObjectVersions(request);
  return versions.map(({ key, versionId, isLatest, modified, size }) => ({ key, versionId, isLatest, modified, size }));
}

async function queueOf({ records }: ReturnType<typeof testLayer>): Promise<QueuedReplication[]> {
  const found: { revision: number; entry: QueuedReplication }[] = [];
  for await (const item of records.scan(within('outbox', replicationQueue(target)))) {
    if (item.kind === 'entry') found.push({ revision: item.revision, entry: decodeReplication(item) });
  }
  return found.toSorted((x, y) => x.revision - y.revision).map(({ entry }) => entry);
}

/** An id as a server makes it: it begins with the time. */
function idOf(modified: number, rest: number): string {
  return modified.toString(16).padStart(12, '0') + rest.toString(16).padStart(20, '0');
}

function nullOf(time: number) {
  return { versionId: 'null', modified: new Date(time) };
}

/** The ids of the uploads that go on. */
async function uploads({ layer }: ReturnType<typeof testLayer>) {
  const all = { bucket, prefix: '', delimiter: '', afterKey: '', afterUploadId: '', limit: 100 };
  return (await layer.listMultipartUploads(all)).uploads.map(({ uploadId }) => uploadId);
}

describe('replicas', () => {
  it('have the order of their times, whatever the order in which they arrive', async () => {
    const source = fc.record({
      time: fc.integer({ min: 1, max: 6 }),
      rest: fc.integer({ min: 0, max: 3 }),
      kind: fc.constantFrom('inline', 'blob', 'marker'),
    });
    const versions = fc.uniqueArray(source, { selector: ({ time, rest }) => `${time} ${rest}`, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        versions.chain((all) => fc.shuffledSubarray(all, { minLength: all.length })),
        async (arriving) => {
          const { layer } = await versioned();
          for (const { time, rest, kind } of [...arriving, ...arriving.slice(0, 2)]) {
            const replica = { versionId: idOf(time, rest), modified: new Date(time) };
            if (kind === 'marker') await layer.deleteObject(bucket, 'key', { replica: { marker: replica } });
            else await layer.putObject(put(bucket, 'key', kind === 'blob' ? 'x'.repeat(20) : 'x', { replica }));
          }
          const ordered = arriving.toSorted((x, y) => y.time - x.time || y.rest - x.rest);
          expect(await listing(layer)).toEqual(
            ordered.map(({ time, rest, kind }, at) => ({
              key: 'key',
              versionId: idOf(time, rest),
              isLatest: at === 0,
              modified: time,
              size: kind === 'marker' ? 0 : kind === 'blob' ? 20 : 1,
            })),
          );
          for (const { time, rest, kind } of arriving) {
            if (kind === 'marker') continue;
            expect(String(await body(layer, bucket, 'key', idOf(time, rest)))).toMatch(/^x+$/);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('show their state, keep the ETag of the source, and are not replicated again', async () => {
    const made = await versioned();
    await made.layer.putBucketReplication(bucket, everything);
    const replica = { versionId: idOf(5, 1), modified: new Date(5), etag: `${'ab'.repeat(16)}-2` };
    const info = await made.layer.putObject(put(bucket, 'key', 'text', { replica }));
    expect(info).toMatchObject({
      etag: replica.etag,
      versionId: replica.versionId,
      lastModified: new Date(5),
    });
    expect((await made.layer.headObject(bucket, 'key')).replication).toEqual({ status: 'REPLICA' });
    expect(await queueOf(made)).toEqual([]);
  });

  it('are refused in a bucket without versions', async () => {
    const { layer } = testLayer();
    await layer.createBucket(bucket, { location: '' });
    const replica = { versionId: idOf(5, 1), modified: new Date(5) };
    await expect(layer.putObject(put(bucket, 'key', 'x', { replica }))).rejects.toMatchObject({
      code: 'InvalidRequest',
    });
  });

  it('leave no blob where the version is there already', async () => {
    const { layer, blobs } = await versioned();
    const replica = { versionId: idOf(5, 1), modified: new Date(5) };
    await layer.putObject(put(bucket, 'key', 'x'.repeat(20), { replica }));
    const before = (await Array.fromAsync(blobs.list())).length;
    await layer.putObject(put(bucket, 'key', 'x'.repeat(20), { replica }));
    expect((await Array.fromAsync(blobs.list())).length).toBe(before);
  });

  it('take newer null versions alone', async () => {
    const { layer } = await versioned();
    const nullAt = (time: number, text: string) =>
      layer.putObject(put(bucket, 'key', text, { replica: { versionId: 'null', modified: new Date(time) } }));
    await nullAt(5, 'five');
    await expect(nullAt(3, 'three')).rejects.toMatchObject({ code: 'OperationAborted' });
    await layer.putObject(put(bucket, 'key', 'seven', { replica: { versionId: idOf(7, 1), modified: new Date(7) } }));
    await nullAt(6, 'six');
    expect(await listing(layer)).toEqual([
      expect.objectContaining({ versionId: idOf(7, 1), isLatest: true }),
      expect.objectContaining({ versionId: 'null', modified: 6 }),
    ]);
    expect(String(await body(layer, bucket, 'key', 'null'))).toBe('six');
  });

  it('keep the later change of tags', async () => {
    const { layer } = await versioned();
    const replica = { versionId: idOf(5, 1), modified: new Date(5) };
    await layer.putObject(put(bucket, 'key', 'x', { replica }));
    const attributes = {
      bucket,
      key: 'key',
      ...replica,
      headers: { metadata: {} },
      lock: undefined,
      may,
    };
    await layer.putReplicaAttributes({ ...attributes, tags: { k: 'later' }, changes: { tags: 20 } });
    await layer.putReplicaAttributes({ ...attributes, tags: { k: 'earlier' }, changes: { tags: 10 } });
    expect((await layer.getObjectTags(bucket, 'key')).tags).toEqual({ k: 'later' });
  });

  it('cannot weaken COMPLIANCE', async () => {
    let now = 1_000;
    const { layer } = testLayer({ clock: () => now });
    await layer.createBucket(bucket, { location: '', objectLock: true });
    const lock = { retention: { mode: 'COMPLIANCE', until: new Date(9_000) } } as const;
    const replica = { versionId: idOf(5, 1), modified: new Date(5) };
    await layer.putObject(put(bucket, 'key', 'x', { replica, lock }));
    const attributes = { bucket, key: 'key', ...replica, headers: { metadata: {} }, tags: {}, may };
    now = 2_000;
    const shorter = { retention: { mode: 'COMPLIANCE', until: new Date(5_000) } } as const;
    // A clock that is far ahead does not help.
    await expect(
      layer.putReplicaAttributes({ ...attributes, lock: undefined, changes: { retention: 9_001 } }),
    ).rejects.toMatchObject({ code: 'AccessDenied' });
    for (const weaker of [undefined, shorter]) {
      await layer.putReplicaAttributes({ ...attributes, lock: weaker, changes: { retention: 2_000 } });
      expect(await layer.getObjectLock(bucket, 'key')).toEqual(lock);
    }
    await expect(
      layer.deleteObject(bucket, 'key', { versionId: replica.versionId, replica: { marker: undefined } }),
    ).rejects.toMatchObject({ code: 'AccessDenied' });
  });

  it.each(['latest', 'noncurrent'])('do not replace a locked null version that is %s', async (at) => {
    let now = 1_000;
    const { layer } = testLayer({ clock: () => now });
    await layer.createBucket(bucket, { location: '' });
    await layer.putBucketVersioning(bucket, { status: 'Enabled' });
    await layer.putObjectLockConfiguration(bucket, {});
    const kept = { versionId: 'null', modified: new Date(1_000) };
    await layer.putObject(put(bucket, 'key', 'kept', { replica: kept }));
    const retention = { mode: 'GOVERNANCE', until: new Date(9_000) } as const;
    await layer.putObjectRetention(bucket, 'key', { versionId: 'null', retention, bypassGovernance: false });
    now = 3_000;
    if (at === 'noncurrent') await layer.putObject(put(bucket, 'key', 'newer'));
    const replica = { versionId: 'null', modified: new Date(2_000) };
    await expect(layer.putObject(put(bucket, 'key', 'other', { replica }))).rejects.toMatchObject({
      code: 'AccessDenied',
    });
    expect(String(await body(layer, bucket, 'key', 'null'))).toBe('kept');
  });

  it('are made by uploads in parts', async () => {
    const { layer } = await versioned();
    const key = 'key';
    const replica = { versionId: idOf(5, 1), modified: new Date(5) };
    await layer.putObject(put(bucket, key, 'newer', { replica: { versionId: idOf(9, 1), modified: new Date(9) } }));
    const { uploadId } = await layer.createMultipartUpload({ bucket, key, headers: { metadata: {} }, replica });
    const { etag } = await layer.putPart({ ...put(bucket, key, 'part'), uploadId, partNumber: 1 });
    const parts = [{ partNumber: 1, etag }];
    await layer.completeMultipartUpload({ bucket, key, uploadId, parts });
    expect(await listing(layer)).toMatchObject([{ versionId: idOf(9, 1) }, { versionId: idOf(5, 1) }]);
    expect(String(await body(layer, bucket, key, replica.versionId))).toBe('part');
  });
});

describe('uploads that a server left when it was killed', () => {
  const key = 'key';
  const replica = { versionId: idOf(5, 1), modified: new Date(5) };
  const other = { versionId: idOf(6, 1), modified: new Date(6) };

  async function begun({ layer }: ReturnType<typeof testLayer>, of?: Pick<Replica, 'versionId' | 'modified'>) {
    const begin = { bucket, key, headers: { metadata: {} }, ...(of && { replica: of }) };
    const { uploadId } = await layer.createMultipartUpload(begin);
    const { etag } = await layer.putPart({ ...put(bucket, key, 'part'), uploadId, partNumber: 1 });
    const parts = [{ partNumber: 1, etag }];
    return { uploadId, complete: () => layer.completeMultipartUpload({ bucket, key, uploadId, parts }) };
  }

  it('end with another upload of the version, and with them those of no other version and no client', async () => {
    const made = await versioned();
    await begun(made, replica);
    const others = [await begun(made, other), await begun(made)].map(({ uploadId }) => uploadId);
    await (await begun(made, replica)).complete();
    expect((await uploads(made)).toSorted()).toEqual(others.toSorted());
  });

  it('end where the version came meanwhile', async () => {
    const made = await versioned();
    await begun(made, replica);
    const again = await begun(made, replica);
    await made.layer.putObject(put(bucket, key, 'part', { replica }));
    await again.complete();
    expect(await uploads(made)).toEqual([]);
  });

  it('are reported, each once, when they have ended', async () => {
    const ended: LeftUploads[] = [];
    const made = await versioned({ onUploadsEnded: (left) => void ended.push(left) });
    await begun(made, replica);
    await begun(made, replica);
    await (await begun(made, replica)).complete();
    await begun(made, replica);
    await made.layer.deleteObject(bucket, key, { versionId: replica.versionId, replica: { marker: undefined } });
    await made.layer.deleteObject(bucket, key, { versionId: replica.versionId, replica: { marker: undefined } });
    const { versionId } = replica;
    expect(ended).toEqual([
      { bucket, key, versionId, count: 2 },
      { bucket, key, versionId, count: 1 },
    ]);
  });

  it('end with the null version of their time alone', async () => {
    const made = await versioned();
    await begun(made, nullOf(5));
    const { uploadId } = await begun(made, nullOf(6));
    await (await begun(made, nullOf(5))).complete();
    expect(await uploads(made)).toEqual([uploadId]);
  });

  it('end with the removal of the version, which the other server did not send again', async () => {
    const made = await versioned();
    await begun(made, replica);
    const others = [await begun(made, other), await begun(made)].map(({ uploadId }) => uploadId);
    const { versionId } = replica;
    await made.layer.deleteObject(bucket, key, { versionId });
    expect(await uploads(made)).toHaveLength(3);
    await made.layer.deleteObject(bucket, key, { versionId, replica: { marker: undefined } });
    expect((await uploads(made)).toSorted()).toEqual(others.toSorted());
  });

  it.each([
    ['the other server', { replica: { marker: undefined } }],
    ['a client', {}],
  ])('end with the removal of the version that came meanwhile, by %s', async (_who, options) => {
    const made = await versioned();
    await begun(made, replica);
    const others = [await begun(made, other), await begun(made)].map(({ uploadId }) => uploadId);
    await made.layer.putObject(put(bucket, key, 'part', { replica }));
    await made.layer.deleteObject(bucket, key, { versionId: replica.versionId, ...options });
    expect((await uploads(made)).toSorted()).toEqual(others.toSorted());
    expect(await listing(made.layer)).toEqual([]);
  });

  it('end with the removal of a null version of their time, where another null version is here', async () => {
    const made = await versioned();
    await begun(made, nullOf(5));
    const { uploadId } = await begun(made, nullOf(6));
    await made.layer.putObject(put(bucket, key, 'part', { replica: nullOf(6) }));
    const removal = { versionId: 'null', replica: { marker: undefined, modified: new Date(5) } };
    await made.layer.deleteObject(bucket, key, removal);
    expect(await uploads(made)).toEqual([uploadId]);
    expect(await listing(made.layer)).toMatchObject([{ versionId: 'null', modified: 6 }]);
  });

  it('end when the other server sends the attributes of the version, which it found here', async () => {
    const made = await versioned();
    await begun(made, replica);
    const others = [await begun(made, other), await begun(made)].map(({ uploadId }) => uploadId);
    await made.layer.putObject(put(bucket, key, 'part', { replica }));
    await made.layer.putReplicaAttributes({
      bucket,
      key,
      ...replica,
      headers: { metadata: {} },
      tags: {},
      lock: undefined,
      may,
    });
    expect((await uploads(made)).toSorted()).toEqual(others.toSorted());
  });

  it.each([
    [
      'a completion',
      async (made: Awaited<ReturnType<typeof versioned>>) => void (await (await begun(made, replica)).complete()),
    ],
    [
      'a removal',
      async ({ layer }: Awaited<ReturnType<typeof versioned>>) =>
        void (await layer.deleteObject(bucket, key, { versionId: replica.versionId, replica: { marker: undefined } })),
    ],
  ])('do not hold up %s where the record of one is damaged', async (_what, work) => {
    const made = await versioned();
    await begun(made, replica);
    const { uploadId } = await begun(made);
    const damaged = { key: recordKeys.upload(bucket, key, uploadId), value: Buffer.from([1, 0x7b]) };
    await commitOnce(made.records, { put: [damaged] }, randomBytes);
    await work(made);
    expect(await made.records.get(damaged.key)).toMatchObject({ value: damaged.value });
    await commitOnce(made.records, { delete: [damaged.key] }, randomBytes);
    expect(await uploads(made)).toEqual([]);
  });

  it('go on where the upload that completes is that of a client', async () => {
    const made = await versioned();
    const { uploadId } = await begun(made, replica);
    await (await begun(made)).complete();
    expect(await uploads(made)).toEqual([uploadId]);
  });

  it('give the bytes of their parts back to the quota of the bucket', async () => {
    const made = await versioned();
    await made.layer.putBucketQuota(bucket, 1_000);
    await begun(made, replica);
    await begun(made, other);
    await (await begun(made, replica)).complete();
    await made.layer.deleteObject(bucket, key, { versionId: other.versionId, replica: { marker: undefined } });
    expect(await made.layer.getBucketQuota(bucket)).toMatchObject({ used: 4 });
  });
});

describe('changes of a replicated bucket', () => {
  it('are queued with the commit that makes them', async () => {
    const made = await versioned();
    const { layer } = made;
    await layer.putBucketReplication(bucket, everything);
    const { versionId = '' } = await layer.putObject(put(bucket, 'key', 'text'));
    expect((await layer.headObject(bucket, 'key')).replication).toEqual({ status: 'PENDING', waiting: [target] });
    await layer.putObjectTags(bucket, 'key', { k: 'v' }, versionId);
    const marker = await layer.deleteObject(bucket, 'key');
    await layer.deleteObject(bucket, 'key', { versionId });
    expect(await queueOf(made)).toMatchObject([
      { kind: 'version', key: 'key', versionId, size: 4 },
      { kind: 'attributes', versionId },
      { kind: 'version', versionId: marker.versionId },
      { kind: 'removal', versionId },
    ]);
  });

  it('are COMPLETED by their delivery, and FAILED by a refusal', async () => {
    const { layer } = await versioned();
    await layer.putBucketReplication(bucket, everything);
    const { versionId = '' } = await layer.putObject(put(bucket, 'key', 'text'));
    const delivered = { bucket, key: 'key', versionId, target, changed: undefined };
    const state = async () => (await layer.headObject(bucket, 'key')).replication;
    await layer.setReplicationStatus({ ...delivered, status: 'FAILED', refused: 'no space' });
    const targets = { [target]: { refused: 'no space' } };
    expect(await state()).toEqual({ status: 'FAILED', waiting: [target], targets });
    await layer.setReplicationStatus({ ...delivered, status: 'COMPLETED' });
    expect(await state()).toEqual({ status: 'COMPLETED', targets: { [target]: { has: 'whole' } } });
  });

  it('stay PENDING where a client changed the version while it was sent', async () => {
    const { layer } = await versioned({ clock: () => 100 });
    await layer.putBucketReplication(bucket, everything);
    const { versionId = '' } = await layer.putObject(put(bucket, 'key', 'text'));
    await layer.putObjectTags(bucket, 'key', { k: 'v' });
    await layer.setReplicationStatus({
      bucket,
      key: 'key',
      versionId,
      target,
      changed: undefined,
      status: 'COMPLETED',
    });
    expect((await layer.headObject(bucket, 'key')).replication).toMatchObject({ status: 'PENDING', waiting: [target] });
  });

  it('are FAILED where the delivery of such a change is refused', async () => {
    const { layer } = await versioned({ clock: () => 100 });
    await layer.putBucketReplication(bucket, everything);
    const { versionId = '' } = await layer.putObject(put(bucket, 'key', 'text'));
    await layer.putObjectTags(bucket, 'key', { k: 'v' });
    const delivered = { bucket, key: 'key', versionId, target };
    await layer.setReplicationStatus({ ...delivered, status: 'FAILED', changed: undefined });
    expect((await layer.headObject(bucket, 'key')).replication).toMatchObject({ status: 'FAILED', waiting: [target] });
    await layer.setReplicationStatus({ ...delivered, status: 'COMPLETED', changed: 100 });
    expect((await layer.headObject(bucket, 'key')).replication).toMatchObject({ status: 'COMPLETED' });
  });

  it('wait for no target that was removed', async () => {
    let now = 100;
    const { layer } = await versioned({ clock: () => (now += 1) });
    await layer.putBucketReplication(bucket, everything);
    const { versionId = '' } = await layer.putObject(put(bucket, 'key', 'text'));
    const version = { bucket, key: 'key', versionId, target };
    const forgotten = { ...version, status: 'FORGOTTEN', changed: undefined } as const;
    await layer.setReplicationStatus(forgotten);
    expect((await layer.headObject(bucket, 'key')).replication).toBeUndefined();
    await layer.putObjectTags(bucket, 'key', { k: 'v' });
    await layer.setReplicationStatus({ ...version, status: 'COMPLETED', changed: Infinity });
    await layer.putObjectTags(bucket, 'key', { k: 'w' });
    await layer.setReplicationStatus(forgotten);
    // Format 3 has the time of the tags in the state alone.
    const { replication } = await layer.headObject(bucket, 'key');
    expect(replication).toEqual({ status: 'FAILED', changed: expect.any(Number) });
    await layer.setReplicationStatus({ ...forgotten, versionId: idOf(1, 1) });
  });

  it('of lifecycle rules are not queued', async () => {
    const made = await versioned();
    await made.layer.putObject(put(bucket, 'key', 'text'));
    await made.layer.putBucketReplication(bucket, everything);
    await made.layer.expireObject(bucket, 'key', { isDue: () => true });
    expect(await queueOf(made)).toEqual([]);
  });

  it('are settled together in one commit, which the caller adds to', async () => {
    const made = await versioned();
    await made.layer.putBucketReplication(bucket, everything);
    const outcomes = [];
    for (const key of ['a', 'b']) {
      const { versionId = '' } = await made.layer.putObject(put(bucket, key, 'text'));
      outcomes.push({ bucket, key, versionId, target, status: 'COMPLETED' as const, changed: undefined });
    }
    const statuses = async () => {
      const read = ['a', 'b'].map((key) => made.layer.headObject(bucket, key));
      return (await Promise.all(read)).map(({ replication }) => replication?.status);
    };
    expect(await made.layer.setReplicationStatuses(outcomes, () => Promise.resolve(false))).toBe(false);
    expect(await statuses()).toEqual(['PENDING', 'PENDING']);
    let commits = 0;
    const commit = async (batch: Parameters<typeof commitOnce>[1]) => {
      commits += 1;
      return (await commitOnce(made.records, batch, randomBytes)).kind === 'committed';
    };
    const gone = { ...outcomes[0]!, key: 'gone' };
    expect(await made.layer.setReplicationStatuses([...outcomes, gone, outcomes[1]!], commit)).toBe(true);
    expect([await statuses(), commits]).toEqual([['COMPLETED', 'COMPLETED'], 1]);
  });

  it('that find the queue full have failed', async () => {
    const dropped: string[] = [];
    const events = {
      isHeard: false,
      hear: () => undefined,
      takes: () => false,
      isFull: () => Promise.resolve(true),
      countDropped: (queue: string) => void dropped.push(queue),
    };
    const made = await versioned({ events });
    await made.layer.putBucketReplication(bucket, everything);
    await made.layer.putObject(put(bucket, 'key', 'text'));
    expect((await made.layer.headObject(bucket, 'key')).replication?.status).toBe('FAILED');
    expect(dropped).toEqual([replicationQueue(target)]);
    expect(await queueOf(made)).toEqual([]);
    await Promise.all(Array.from({ length: 8 }, () => made.layer.putObject(put(bucket, 'key', 'text'))));
    expect(dropped).toHaveLength(9);
  });

  it('keep the versions of the bucket on', async () => {
    const { layer } = await versioned();
    await layer.putBucketReplication(bucket, everything);
    await expect(layer.putBucketVersioning(bucket, { status: 'Suspended' })).rejects.toMatchObject({
      code: 'InvalidBucketState',
    });
  });

  it('before the rules are queued by a resync', async () => {
    const made = await versioned();
    const { versionId = '' } = await made.layer.putObject(put(bucket, 'key', 'text'));
    await made.layer.putBucketReplication(bucket, everything);
    const version = { bucket, key: 'key', versionId, target, resync: 'one' };
    expect(await made.layer.queueResync(version)).toBe(true);
    expect(await made.layer.queueResync({ ...version, versionId: idOf(1, 1) })).toBe(false);
    expect(await queueOf(made)).toMatchObject([{ kind: 'version', versionId, resync: 'one' }]);
  });
});
