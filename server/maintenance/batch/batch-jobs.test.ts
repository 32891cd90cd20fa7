import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { damageRecord, put, testLayer } from '../../../test/support/objects/test-layer.ts';
import { replicatedRule } from '../../../test/support/replication/replicated-rule.ts';
import { keyServiceKeys } from '../../encryption/key-service-keys.ts';
import type { ObjectLayer } from '../../objects/contract/object-layer.ts';
import { encodeRecord } from '../../objects/records/record-format.ts';
import { commitOnce } from '../../store/commits.ts';
import { key } from '../../store/keys.ts';
import type { RecordStore } from '../../store/record-store.ts';
import type { DecideForAsker, JobAsker, JobRight } from './job-rights.ts';
import { createBatchJobs, RunningJob } from './batch-jobs.ts';
import { batchRounds } from './batch-rounds.ts';
import { unlimited } from '../pace.ts';

const hour = 3_600_000;

const asker: JobAsker = { kind: 'user', accessKey: 'ann', conditions: {} };

async function batchTest({
  versioned = false,
  objectLock = false,
  decide = () => Promise.resolve({ kind: 'allowed' }),
}: { versioned?: boolean; objectLock?: boolean; decide?: DecideForAsker } = {}) {
  const time = { now: Date.parse('2026-01-01T00:00:00Z') };
  const clock = () => time.now;
  const test = testLayer({ clock });
  await test.layer.createBucket('bucket', { location: '', ...(objectLock && { objectLock }) });
  if (versioned) await test.layer.putBucketVersioning('bucket', { status: 'Enabled' });
  const { records, layer } = test;
  const jobs = createBatchJobs({ records, objects: layer, random: randomBytes, clock });
  const logged: object[] = [];
  const log = {
    info: (fields: object) => void logged.push(fields),
    warn: (fields: object) => void logged.push(fields),
  };
  const round = batchRounds({ reads: unlimited, changesPerSecond: Infinity, log, clock, decide });
  const run = (objects: ObjectLayer = layer) =>
    round({
      records,
      objects,
      keys: keyServiceKeys(test.keyService, { defaultKey: 'default-key' }),
      signal: new AbortController().signal,
    });
  const startJob = (definition: string) => jobs.start(definition, 'ann', asker);
  const start = (rules: string) =>
    jobs.start(`expire:\n  apiVersion: v1\n  bucket: bucket\n  rules: ${rules}\n  retry: {attempts: 1}`, 'ann', asker);
  const listed = async () => {
    const request = { bucket: 'bucket', prefix: '', delimiter: '', keyMarker: '', limit: 10_000 };
    return (await layer.listObjectVersions(request)).versions;
  };
  const keys = async () => (await listed()).map(({ key, deleteMarker }) => (deleteMarker ? `${key} gone` : key));
  return { ...test, time, jobs, run, start, startJob, keys, listed, logged };
}

describe('a batch job that expires', () => {
  it('ends with the failure where a record is damaged, so that the next one goes on', async () => {
    const made = await batchTest();
    const { layer, time, start, startJob, run, keys, jobs } = made;
    await layer.createBucket('aaa', { location: '' });
    await layer.putObject(put('aaa', 'key', '1'));
    await damageRecord(made, 'aaa', 'key');
    await startJob('expire: {apiVersion: v1, bucket: aaa, rules: [{type: object}]}');
    await layer.putObject(put('bucket', 'key', '1'));
    time.now += 1;
    await start('[{type: object}]');
    await run();
    expect(await keys()).toEqual([]);
    expect(await jobs.list()).toMatchObject([
      { failed: 1, failure: { key: '', message: expect.stringContaining('the record of object aaa/key') as string } },
      { failed: 0, objects: 1 },
    ]);
  });

  it('removes the objects that match, and reports them', async () => {
    const { layer, time, start, run, keys, jobs } = await batchTest();
    await layer.putObject(put('bucket', 'a.log', '1'));
    await layer.putObject(put('bucket', 'a.txt', '1'));
    time.now += 2 * hour;
    await layer.putObject(put('bucket', 'b.log', '1'));
    await start('[{type: object, name: "*.log", olderThan: 1h}]');
    await run();
    expect(await keys()).toEqual(['a.txt', 'b.log']);
    expect(await jobs.list()).toEqual([
      expect.objectContaining({ user: 'ann', objects: 1, failed: 0, ended: time.now }),
    ]);
  });

  it.each([
    ['tags', '[{type: object, tags: [{key: colour, value: "r*"}]}]', ['blue']],
    ['metadata', '[{type: object, metadata: [{key: X-Amz-Meta-Size, value: "?"}]}]', ['blue']],
    ['a header', '[{type: object, metadata: [{key: content-type, value: "image/*"}]}]', ['red']],
    ['the size', '[{type: object, size: {greaterThan: 3}}]', ['red']],
  ])('selects by %s', async (_what, rules, left) => {
    const { layer, start, run, keys } = await batchTest();
    await layer.putObject(
      put('bucket', 'red', '12', { tags: { colour: 'red' }, headers: { metadata: { size: 's' } } }),
    );
    await layer.putObject(
      put('bucket', 'blue', '1234', { tags: { colour: 'blue' }, headers: { metadata: {}, contentType: 'image/png' } }),
    );
    await start(rules);
    await run();
    expect(await keys()).toEqual(left);
  });

  it('removes all versions, or those beyond the newest ones', async () => {
    const { layer, start, run, keys, jobs } = await batchTest({ versioned: true });
    for (const key of ['all', 'all', 'some', 'some', 'some', 'some']) await layer.putObject(put('bucket', key, key));
    await layer.deleteObject('bucket', 'gone');
    await layer.putObject(put('bucket', 'gone', 'x'));
    await layer.deleteObject('bucket', 'gone');
    await start('[{type: object, name: all}, {type: object, purge: {retainVersions: 2}}, {type: deleted}]');
    await run();
    expect(await keys()).toEqual(['some', 'some']);
    expect(await jobs.list()).toEqual([expect.objectContaining({ objects: 5, deleteMarkers: 2, failed: 0 })]);
  });

  it('leaves what a replication target has not got, and counts it', async () => {
    const { layer, start, run, keys, jobs } = await batchTest({ versioned: true });
    await layer.putBucketReplication('bucket', { rules: [replicatedRule] });
    await layer.putObject(put('bucket', 'key', 'text'));
    await start('[{type: object}]');
    await run();
    expect(await keys()).toEqual(['key']);
    const message = expect.stringContaining('OperationAborted: The version waits for its replication') as string;
    expect(await jobs.list()).toMatchObject([{ objects: 0, failed: 1, failure: { key: 'key', message } }]);
  });

  it('never makes an older version current where a lock holds it', async () => {
    const { layer, start, run, listed, jobs } = await batchTest({ objectLock: true });
    const { versionId } = await layer.putObject(put('bucket', 'a', 'old'));
    await layer.putObjectLegalHold('bucket', 'a', { versionId, legalHold: true });
    await layer.putObject(put('bucket', 'a', 'new'));
    await start('[{type: object}]');
    await run();
    expect((await listed()).map(({ isLatest }) => isLatest)).toEqual([true, false]);
    expect(await jobs.list()).toEqual([
      expect.objectContaining({
        objects: 0,
        failed: 1,
        failure: { key: 'a', message: expect.stringContaining('AccessDenied') as string },
      }),
    ]);
  });

  it('goes on where it was interrupted', async () => {
    const { layer, start, run, keys, jobs } = await batchTest();
    for (let at = 0; at < 2_500; at += 1) await layer.putObject(put('bucket', String(at).padStart(4, '0'), 'x'));
    await start('[{type: object}]');
    const lists: string[] = [];
    const broken = (failing: boolean): ObjectLayer =>
      Object.assign(Object.create(layer) as ObjectLayer, {
        listObjectVersions: (request: Parameters<ObjectLayer['listObjectVersions']>[0]) => {
          lists.push(request.keyMarker);
          if (failing && lists.length === 2) throw new Error('the server stops');
          return layer.listObjectVersions(request);
        },
      });
    await expect(run(broken(true))).rejects.toThrow('the server stops');
    const [job] = await jobs.list();
    expect(job).toMatchObject({ objects: 999 });
    lists.length = 0;
    await run(broken(false));
    expect(lists[0]).toBe(job?.after);
    expect(await keys()).toEqual([]);
    expect(await jobs.list()).toEqual([expect.objectContaining({ objects: 2_500, failed: 0 })]);
  });

  it('ends at the next page when it is cancelled', async () => {
    const { layer, time, start, run, keys, jobs } = await batchTest();
    for (let at = 0; at < 1_500; at += 1) await layer.putObject(put('bucket', String(at).padStart(4, '0'), 'x'));
    const { id } = await start('[{type: object}]');
    const cancelling: ObjectLayer = Object.assign(Object.create(layer) as ObjectLayer, {
      listObjectVersions: async (request: Parameters<ObjectLayer['listObjectVersions']>[0]) => {
        const page = await layer.listObjectVersions(request);
        await jobs.cancel(id);
        return page;
      },
    });
    await run(cancelling);
    expect((await keys()).length).toBeGreaterThan(400);
    expect(await jobs.list()).toMatchObject([{ id, cancelled: true, ended: time.now, objects: 0 }]);
    await expect(jobs.cancel(id)).rejects.toMatchObject({ code: 'no-such-job' });
  });

  it('is not revived by progress whose commit came right before the cancellation', async () => {
    const { records, jobs, start } = await batchTest();
    const { id } = await start('[{type: object}]');
    const running = await RunningJob.open(records, randomBytes, id);
    const commit = records.commit.bind(records);
    let cancels = true;
    Object.assign(records, {
      commit: async (batch: Parameters<RecordStore['commit']>[0]) => {
        const outcome = await commit(batch);
        const isFirst = cancels;
        cancels = false;
        if (isFirst) await jobs.cancel(id);
        return outcome;
      },
    });
    await running?.save({ objects: 1 });
    expect(await running?.save({ objects: 2 })).toBe(false);
    expect(await jobs.list()).toMatchObject([{ id, cancelled: true, objects: 1 }]);
  });

  it('keeps the progress that is stored while it is cancelled', async () => {
    const { records, jobs, start } = await batchTest();
    const { id } = await start('[{type: object}]');
    const running = await RunningJob.open(records, randomBytes, id);
    const get = records.get.bind(records);
    let saves = true;
    Object.assign(records, {
      get: async (recordKey: Parameters<RecordStore['get']>[0]) => {
        const entry = await get(recordKey);
        const isFirst = saves;
        saves = false;
        if (isFirst) await running?.save({ objects: 1 });
        return entry;
      },
    });
    await jobs.cancel(id);
    expect(await jobs.list()).toMatchObject([{ id, cancelled: true, objects: 1 }]);
  });

  it('leaves an object that was replaced meanwhile', async () => {
    const { layer, time, start, run, keys } = await batchTest();
    await layer.putObject(put('bucket', 'a', 'old'));
    time.now += 2 * hour;
    await start('[{type: object, olderThan: 1h}]');
    const racing: ObjectLayer = Object.assign(Object.create(layer) as ObjectLayer, {
      listObjectVersions: async (request: Parameters<ObjectLayer['listObjectVersions']>[0]) => {
        const page = await layer.listObjectVersions(request);
        await layer.putObject(put('bucket', 'a', 'new'));
        return page;
      },
    });
    await run(racing);
    expect(await keys()).toEqual(['a']);
  });

  it('fails where its bucket was removed, and lets the next one run', async () => {
    const { layer, start, startJob, run, keys, jobs } = await batchTest();
    await layer.createBucket('other', { location: '' });
    await startJob('expire:\n  apiVersion: v1\n  bucket: other\n  rules: [{type: object}]');
    await layer.deleteBucket('other');
    await layer.putObject(put('bucket', 'a', 'x'));
    await start('[{type: object}]');
    await run();
    const failure = { key: '', message: expect.stringContaining('NoSuchBucket') as string };
    expect((await jobs.list()).find(({ bucket }) => bucket === 'other')).toMatchObject({ failed: 1, failure });
    expect(await keys()).toEqual([]);
  });

  it('goes through its prefixes, also when it goes on', async () => {
    const { layer, startJob, run, keys } = await batchTest();
    // The order of the store is that of bytes, where the first one is the last.
    const prefixes = ['\u{1f600}/', '\uff21/', 'a/'];
    for (const prefix of prefixes)
      for (let at = 0; at < 1_100; at += 1) await layer.putObject(put('bucket', `${prefix}${at}`, 'x'));
    await layer.putObject(put('bucket', 'b', 'x'));
    await startJob(
      `expire:\n  apiVersion: v1\n  bucket: bucket\n  prefix: ${JSON.stringify(prefixes)}\n  rules: [{type: object}]`,
    );
    let lists = 0;
    const breaking: ObjectLayer = Object.assign(Object.create(layer) as ObjectLayer, {
      listObjectVersions: (request: Parameters<ObjectLayer['listObjectVersions']>[0]) => {
        lists += 1;
        if (lists % 2 === 0) throw new Error('the server stops');
        return layer.listObjectVersions(request);
      },
    });
    for (let round = 0; round < 20; round += 1) await run(breaking).catch(() => undefined);
    await run();
    expect(await keys()).toEqual(['b']);
  });

  it('needs a bucket', async () => {
    const { jobs } = await batchTest();
    const definition = 'expire:\n  apiVersion: v1\n  bucket: other\n  rules: [{type: object}]';
    await expect(jobs.start(definition, 'ann', asker)).rejects.toMatchObject({ code: 'no-such-bucket' });
  });
});

const kms = (keyName: string) => ({ encryption: { scheme: 'SSE-KMS', keyName } }) as const;

describe('a batch job that rotates keys', () => {
  it('gives the versions that match the new key, and touches nothing else', async () => {
    const { layer, keyService, startJob, run, listed, jobs } = await batchTest({ versioned: true });
    for (const name of ['old', 'other', 'new']) keyService.keys.set(name, Buffer.alloc(32, name.length));
    await layer.putObject(put('bucket', 'a', 'first', kms('old')));
    await layer.putObject(put('bucket', 'a', 'second', kms('old')));
    await layer.putObject(put('bucket', 'b', 'x', kms('other')));
    await layer.putObject(put('bucket', 'c', 'x', { encryption: { scheme: 'SSE-S3' } }));
    await layer.putObject(put('bucket', 'd', 'x'));
    const before = await listed();
    await startJob(`keyrotate:
  apiVersion: v1
  bucket: bucket
  encryption: {type: sse-kms, key: new}
  flags: {filter: {kmskey: old}}`);
    await run();
    expect(await listed()).toEqual(before);
    const keyOf = async (key: string, versionId: string) =>
      (await layer.headObject('bucket', key, { versionId })).encryption;
    const found = await Promise.all(before.map(({ key, versionId }) => keyOf(key, versionId)));
    expect(found.map((encryption) => encryption && 'keyName' in encryption && encryption.keyName)).toEqual([
      'new',
      'new',
      'other',
      expect.anything(),
      undefined,
    ]);
    expect(await jobs.list()).toEqual([expect.objectContaining({ type: 'keyrotate', objects: 2, failed: 0 })]);
  });

  it('counts what fails, and goes on with the others', async () => {
    const { layer, keyService, startJob, run, jobs } = await batchTest();
    for (const name of ['old', 'lost', 'new']) keyService.keys.set(name, Buffer.alloc(32, name.length));
    await layer.putObject(put('bucket', 'a', 'x', kms('lost')));
    await layer.putObject(put('bucket', 'b', 'x', kms('old')));
    keyService.keys.delete('lost');
    await startJob(`keyrotate:
  apiVersion: v1
  bucket: bucket
  encryption: {type: sse-kms, key: new}
  flags: {retry: {attempts: 1}}`);
    await run();
    expect(await jobs.list()).toEqual([
      expect.objectContaining({ objects: 1, failed: 1, ended: expect.any(Number) as number }),
    ]);
  });
});

describe('the list of batch jobs', () => {
  it('goes from the oldest to the newest job, and by their ids where they began at once', async () => {
    const { records, layer, time } = await batchTest();
    let idBytes: Buffer | undefined;
    const random = (size: number) => {
      const bytes = idBytes ?? randomBytes(size);
      idBytes = undefined;
      return bytes;
    };
    const jobs = createBatchJobs({ records, objects: layer, random, clock: () => time.now });
    const start = (byte: string) => {
      idBytes = Buffer.from(byte.repeat(16));
      return jobs.start(
        'expire:\n  apiVersion: v1\n  bucket: bucket\n  rules: [{type: object, name: "*"}]\n  retry: {attempts: 1}',
        'ann',
        asker,
      );
    };
    const oldest = await start('z');
    time.now += hour;
    const second = await start('m');
    const third = await start('a');
    expect((await jobs.list()).map(({ id }) => id)).toEqual([oldest.id, third.id, second.id]);
  });
});

describe('the rights of a job at each version', () => {
  it('are those of the asker for removals, and what is denied stays', async () => {
    const asked: [string, JobRight][] = [];
    const decide: DecideForAsker = ({ accessKey }, right) => {
      asked.push([accessKey, right]);
      return Promise.resolve({ kind: right.resource === 'bucket/kept' ? 'denied' : 'allowed' } as const);
    };
    const test = await batchTest({ decide });
    for (const key of ['gone', 'kept']) await test.layer.putObject(put('bucket', key, '1'));
    test.time.now += 1;
    await test.start('[{type: object}]');
    await test.run();
    expect(await test.keys()).toEqual(['kept']);
    expect(asked).toEqual([
      ['ann', { action: 's3:DeleteObject', resource: 'bucket/gone' }],
      ['ann', { action: 's3:DeleteObject', resource: 'bucket/kept' }],
    ]);
    expect(await test.jobs.list()).toMatchObject([
      { objects: 1, failed: 1, failure: { key: 'kept', message: expect.stringContaining('AccessDenied') as string } },
    ]);
  });

  it('are those to versions in a bucket with versions', async () => {
    const asked: JobRight[] = [];
    const decide: DecideForAsker = (_asker, right) => {
      asked.push(right);
      return Promise.resolve({ kind: 'allowed' });
    };
    const test = await batchTest({ decide, versioned: true });
    await test.layer.putObject(put('bucket', 'a', '1'));
    const [version] = await test.listed();
    test.time.now += 1;
    await test.start('[{type: object}]');
    await test.run();
    const conditions = { 's3:versionid': [version?.versionId] };
    const resource = 'bucket/a';
    expect(asked).toEqual([
      { action: 's3:DeleteObjectVersion', alsoDeniedBy: 's3:DeleteObject', resource, conditions },
    ]);
  });

  it('are those to the keys where keys are changed', async () => {
    const asked: JobRight[] = [];
    const decide: DecideForAsker = (_asker, right) => {
      asked.push(right);
      return Promise.resolve({ kind: 'denied' });
    };
    const test = await batchTest({ decide });
    await test.layer.putObject({ ...put('bucket', 'a', '1'), encryption: { scheme: 'SSE-S3' } });
    await test.startJob('keyrotate: {apiVersion: v1, bucket: bucket, encryption: {type: sse-s3}}');
    await test.run();
    expect(asked.map(({ resource }) => resource)).toEqual(['default-key']);
    expect(await test.jobs.list()).toMatchObject([{ objects: 0, failed: 1 }]);
  });

  it('end the job where its credentials count no more', async () => {
    const test = await batchTest({ decide: () => Promise.resolve({ kind: 'gone' }) });
    await test.layer.putObject(put('bucket', 'a', '1'));
    test.time.now += 1;
    await test.start('[{type: object}]');
    await test.run();
    expect(await test.keys()).toEqual(['a']);
    const message = expect.stringContaining('the credentials of ann') as string;
    expect(await test.jobs.list()).toMatchObject([{ ended: test.time.now, failed: 1, failure: { message } }]);
  });

  it('are unknown for a job of an older server, which ends', async () => {
    const test = await batchTest();
    await test.layer.putObject(put('bucket', 'a', '1'));
    test.time.now += 1;
    const { asker: _asker, ...older } = await test.start('[{type: object}]');
    const replaced = [{ key: key('batch-job', older.id), value: encodeRecord(older) }];
    await commitOnce(test.records, { put: replaced }, randomBytes);
    await test.run();
    expect(await test.keys()).toEqual(['a']);
    expect(await test.jobs.list()).toMatchObject([
      { failed: 1, failure: { message: expect.stringContaining('older server') as string } },
    ]);
  });
});
