import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { put, testLayer } from '../../../test/support/objects/test-layer.ts';
import { noKeySource } from '../../encryption/key-source.ts';
import { sealedRecords } from '../../encryption/sealed-records.ts';
import { DeliveryError } from '../../outbox/delivery-error.ts';
import { batchSecretKey, createBatchJobs } from './batch-jobs.ts';
import type { DecideForAsker, JobAsker, JobRight } from './job-rights.ts';
import type { BatchRemote, BatchVersion } from './batch-remote.ts';
import { batchRounds } from './batch-rounds.ts';
import type { BatchSecrets } from './replicate-definition.ts';
import { unlimited } from '../pace.ts';

const definition = (more = '', flags = '') =>
  `replicate:
  apiVersion: v1
  source: {bucket: bucket${more}}
  target: {bucket: there, endpoint: "http://h:1", credentials: {accessKey: AK, secretKey: hush}}
  flags: {retry: {attempts: 2, delay: 1ms}${flags}}
`;

const asker: JobAsker = { kind: 'user', accessKey: 'ann', conditions: {} };

async function replicationTest({
  decide = () => Promise.resolve({ kind: 'allowed' }),
}: { decide?: DecideForAsker } = {}) {
  const time = { now: Date.parse('2026-01-01T00:00:00Z') };
  const clock = () => time.now;
  const { layer, records } = testLayer({ clock });
  await layer.createBucket('bucket', { location: '' });
  await layer.putBucketVersioning('bucket', { status: 'Enabled' });
  const sealed = sealedRecords({ records, keys: noKeySource });
  await sealed.start();
  /** The versions of the other server, in the order in which they came. */
  const sent: string[] = [];
  const reports: object[] = [];
  const given: BatchSecrets[] = [];
  const state = { fail: (_version: BatchVersion): void => undefined, closed: 0 };
  const remote: BatchRemote = {
    check: () => Promise.resolve(),
    list: () => Promise.resolve({ versions: [] }),
    describe: () => Promise.resolve(undefined),
    // oxlint-disable-next-line require-await -- a thrown error rejects
    async send(version, targetKey) {
      state.fail(version);
      const name = `${targetKey} ${version.deleteMarker ? 'marker' : version.size}`;
      if (sent.includes(name)) return 'same';
      sent.push(name);
      return 'changed';
    },
    fetch: () => Promise.resolve('same'),
    notify: (report) => Promise.resolve(void reports.push(report)),
    close: () => void (state.closed += 1),
  };
  const replication = {
    open: (_definition: unknown, secrets: BatchSecrets) => {
      given.push(secrets);
      return remote;
    },
    sealed,
  };
  const jobs = createBatchJobs({ records, objects: layer, random: randomBytes, clock, replication });
  const log = { info: () => undefined, warn: () => undefined };
  const round = batchRounds({ reads: unlimited, changesPerSecond: Infinity, log, clock, decide, replication });
  const run = (signal = new AbortController().signal) => round({ records, objects: layer, keys: noKeySource, signal });
  const write = async (key: string, body: string) => {
    time.now += 1;
    await layer.putObject(put('bucket', key, body));
  };
  const last = async () => (await jobs.list()).at(-1);
  return { layer, records, sealed, sent, reports, given, state, remote, jobs, run, write, last, time };
}

describe('a batch job that replicates', () => {
  it('sends the versions of a key from the oldest to the newest', async () => {
    const { layer, write, jobs, run, sent, last, time } = await replicationTest();
    await write('a', '1');
    await write('a', '22');
    time.now += 1;
    await layer.deleteObject('bucket', 'a');
    await jobs.start(definition(), 'ann', asker);
    await run();
    expect(sent).toEqual(['a 1', 'a 2', 'a marker']);
    expect(await last()).toMatchObject({
      objects: 2,
      deleteMarkers: 1,
      failed: 0,
      bytes: 3,
      ended: expect.any(Number) as number,
    });
  });

  it('sends the versions of a key in groups where they are too many to be kept', async () => {
    const { write, jobs, run, sent, last, state, time } = await replicationTest();
    const began = time.now;
    for (let at = 0; at < 5_600; at += 1) await write('a', 'x');
    let first: number | undefined;
    state.fail = ({ modified }) => {
      first ??= modified - began;
      sent.splice(0);
    };
    await jobs.start(definition(), 'ann', asker);
    await run();
    // The group has the newest versions, and begins with its oldest.
    expect(first).toBeGreaterThan(50);
    expect(first).toBeLessThan(700);
    expect(await last()).toMatchObject({ objects: 5_600, failed: 0, ended: expect.any(Number) as number });
  });

  it('goes on where it was interrupted, and sends nothing twice', async () => {
    const { write, jobs, run, sent, last, state } = await replicationTest();
    for (let at = 0; at < 1_200; at += 1) await write(`k${String(at).padStart(4, '0')}`, 'x');
    await jobs.start(definition(), 'ann', asker);
    const stopping = new AbortController();
    state.fail = ({ key }) => {
      if (key === 'k0700') stopping.abort();
    };
    await expect(run(stopping.signal)).rejects.toThrow();
    state.fail = () => undefined;
    const before = sent.length;
    expect(before).toBeGreaterThan(500);
    await run();
    expect(sent).toHaveLength(1_200);
    expect(new Set(sent).size).toBe(1_200);
    expect(await last()).toMatchObject({ failed: 0, ended: expect.any(Number) as number });
  });

  it('counts what the other server refuses, and goes on', async () => {
    const { write, jobs, run, sent, last, state } = await replicationTest();
    for (const key of ['a', 'b', 'c']) await write(key, 'x');
    let attempts = 0;
    state.fail = ({ key }) => {
      if (key !== 'b') return;
      attempts += 1;
      throw new DeliveryError('rejected', 'no such thing');
    };
    await jobs.start(definition(), 'ann', asker);
    await run();
    expect(sent.toSorted()).toEqual(['a 1', 'c 1']);
    expect(attempts).toBe(2);
    expect(await last()).toMatchObject({
      objects: 2,
      failed: 1,
      failedBytes: 1,
      failure: { key: 'b', message: 'rejected: no such thing' },
    });
  });

  it('ends where the other server stays away, so that the next job goes on', async () => {
    const { write, jobs, run, last, state } = await replicationTest();
    await write('a', 'x');
    state.fail = () => {
      throw new DeliveryError('unavailable', 'h:1: connection refused');
    };
    await jobs.start(definition(), 'ann', asker);
    await run();
    expect(await last()).toMatchObject({
      failed: 1,
      failure: { message: 'h:1: connection refused' },
      ended: expect.any(Number) as number,
    });
  });

  it('sends the current versions alone to an S3', async () => {
    const { write, jobs, run, sent } = await replicationTest();
    await write('a', '1');
    await write('a', '22');
    await jobs.start(definition().replace('{bucket: there', '{type: s3, bucket: there'), 'ann', asker);
    await run();
    expect(sent).toEqual(['a 2']);
  });

  it('passes prefixes and filters on', async () => {
    const { layer, write, jobs, run, sent } = await replicationTest();
    await write('in/a', 'x');
    await write('in/b', 'x');
    await write('out/a', 'x');
    await layer.putObjectTags('bucket', 'in/b', { go: 'yes' });
    const text = definition(', prefix: in/', ', filter: {tags: [{key: go, value: "y*"}]}');
    await jobs.start(text.replace('bucket: there', 'bucket: there, prefix: copy'), 'ann', asker);
    await run();
    expect(sent).toEqual(['copy/in/b 1']);
  });

  it('keeps its secrets sealed, and removes them at the end', async () => {
    const { jobs, run, sealed, given, write } = await replicationTest();
    await write('a', 'x');
    const { id, definition: shown } = await jobs.start(definition(), 'ann', asker);
    expect(shown).not.toContain('hush');
    expect(await sealed.get(batchSecretKey(id))).toBeDefined();
    await run();
    expect(given.at(-1)).toEqual({ secretKey: 'hush' });
    expect(await sealed.get(batchSecretKey(id))).toBeUndefined();
  });

  it('removes its secrets where it is cancelled', async () => {
    const { jobs, sealed } = await replicationTest();
    const { id } = await jobs.start(definition(), 'ann', asker);
    await jobs.cancel(id);
    expect(await sealed.get(batchSecretKey(id))).toBeUndefined();
  });

  it('sends a report at the end, and closes the connections', async () => {
    const { jobs, run, reports, write, state } = await replicationTest();
    await write('a', 'x');
    await jobs.start(definition('', ', notify: {endpoint: "http://n/", token: t}'), 'ann', asker);
    await run();
    expect(reports).toMatchObject([
      { jobType: 'replicate', complete: true, replicate: { objects: 1, bytesTransferred: 1 } },
    ]);
    // The check at the start, and the job.
    expect(state.closed).toBe(2);
  });
});

const reading = (asked: JobRight[], denied: (right: JobRight) => boolean): DecideForAsker => {
  return (_asker, right) => {
    asked.push(right);
    return Promise.resolve({ kind: denied(right) ? 'denied' : 'allowed' } as const);
  };
};

const byTagsOfTheObject: DecideForAsker = (_asker, { action }) =>
  Promise.resolve({ kind: 'allowed', objectId: action === 's3:GetObject' ? 'the-object' : undefined });

describe('the rights of a job that replicates, at each version', () => {
  it('send what the asker may read alone', async () => {
    const asked: JobRight[] = [];
    const decide = reading(asked, ({ resource }) => resource === 'bucket/secret');
    const { layer, write, jobs, run, sent, last, time } = await replicationTest({ decide });
    for (const name of ['a', 'a', 'secret', 'tags']) await write(name, '1');
    time.now += 1;
    await layer.deleteObject('bucket', 'tags');
    await jobs.start(definition(), 'ann', asker);
    await run();
    expect(sent).toEqual(expect.arrayContaining(['a 1', 'tags 1', 'tags marker']));
    expect(sent.join(' ')).not.toContain('secret');
    expect(await last()).toMatchObject({ failed: 1, failure: { key: 'secret' } });
    const named = (resource: string) => asked.filter((one) => one.resource === resource).map(({ action }) => action);
    expect(named('bucket/a')).toEqual([
      's3:GetObjectVersion',
      's3:GetObjectVersionTagging',
      's3:GetObject',
      's3:GetObject',
      's3:GetObjectTagging',
      's3:GetObjectTagging',
    ]);
    expect(named('bucket')).toEqual(['s3:ListBucketVersions']);
    expect(named('bucket/secret')).toEqual(['s3:GetObject']);
  });

  it('are bound to the object whose tags allow them', async () => {
    const { write, jobs, run, remote } = await replicationTest({ decide: byTagsOfTheObject });
    const bound: (string | undefined)[] = [];
    Object.assign(remote, {
      send: (_version: BatchVersion, _key: string, onlyId: string | undefined) => {
        bound.push(onlyId);
        return Promise.resolve('changed');
      },
    });
    await write('a', '1');
    await jobs.start(definition(), 'ann', asker);
    await run();
    expect(bound).toEqual(['the-object']);
  });

  it('send nothing where the object was replaced between two decisions', async () => {
    let objectId = 0;
    const decide: DecideForAsker = () => Promise.resolve({ kind: 'allowed', objectId: String((objectId += 1)) });
    const { write, jobs, run, sent } = await replicationTest({ decide });
    await write('a', '1');
    await jobs.start(definition(), 'ann', asker);
    await run().catch(() => undefined);
    expect(sent).toEqual([]);
  });

  it('fetch what the asker may write alone, under its name here', async () => {
    const asked: JobRight[] = [];
    const decide = reading(asked, ({ action, resource }) =>
      [`s3:PutObject bucket/in/locked`, 's3:ReplicateDelete bucket/in/kept'].includes(`${String(action)} ${resource}`),
    );
    const { jobs, run, remote, last } = await replicationTest({ decide });
    const fetched: string[] = [];
    const version = { versionId: 'null', isLatest: true, deleteMarker: false, size: 1, modified: 1, etag: 'e' };
    const versions = [
      { ...version, key: 'kept', deleteMarker: true },
      { ...version, key: 'locked' },
      { ...version, key: 'open' },
    ];
    Object.assign(remote, {
      list: () => Promise.resolve({ versions }),
      fetch: (_version: BatchVersion, targetKey: string) => {
        fetched.push(targetKey);
        return Promise.resolve('changed');
      },
    });
    const there = '{bucket: there, endpoint: "http://h:1", credentials: {accessKey: AK, secretKey: hush}}';
    const text = `replicate: {apiVersion: v1, source: ${there}, target: {bucket: bucket, prefix: in}}`;
    await jobs.start(text, 'ann', asker);
    await run();
    expect(fetched).toEqual(['in/open']);
    expect(await last()).toMatchObject({ objects: 1, failed: 2 });
  });

  it('end the job where the credentials end', async () => {
    const { write, jobs, run, sent, last } = await replicationTest({ decide: () => Promise.resolve({ kind: 'gone' }) });
    await write('a', '1');
    await jobs.start(definition(), 'ann', asker);
    await run();
    expect(sent).toEqual([]);
    expect(await last()).toMatchObject({ ended: expect.any(Number) as number, failed: 1 });
  });
});
