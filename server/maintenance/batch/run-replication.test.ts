import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { put, testLayer } from '../../../test/support/objects/test-layer.ts';
import { noKeySource } from '../../encryption/key-source.ts';
import { sealedRecords } from '../../encryption/sealed-records.ts';
import { DeliveryError } from '../../outbox/delivery-error.ts';
import { batchSecretKey, createBatchJobs } from './batch-jobs.ts';
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

async function replicationTest() {
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
  const round = batchRounds({ reads: unlimited, changesPerSecond: Infinity, log, clock, replication });
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
    await jobs.start(definition(), 'ann');
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
    await jobs.start(definition(), 'ann');
    await run();
    // The group has the newest versions, and begins with its oldest.
    expect(first).toBeGreaterThan(50);
    expect(first).toBeLessThan(700);
    expect(await last()).toMatchObject({ objects: 5_600, failed: 0, ended: expect.any(Number) as number });
  });

  it('goes on where it was interrupted, and sends nothing twice', async () => {
    const { write, jobs, run, sent, last, state } = await replicationTest();
    for (let at = 0; at < 1_200; at += 1) await write(`k${String(at).padStart(4, '0')}`, 'x');
    await jobs.start(definition(), 'ann');
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
    await jobs.start(definition(), 'ann');
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
    await jobs.start(definition(), 'ann');
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
    await jobs.start(definition().replace('{bucket: there', '{type: s3, bucket: there'), 'ann');
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
    await jobs.start(text.replace('bucket: there', 'bucket: there, prefix: copy'), 'ann');
    await run();
    expect(sent).toEqual(['copy/in/b 1']);
  });

  it('keeps its secrets sealed, and removes them at the end', async () => {
    const { jobs, run, sealed, given, write } = await replicationTest();
    await write('a', 'x');
    const { id, definition: shown } = await jobs.start(definition(), 'ann');
    expect(shown).not.toContain('hush');
    expect(await sealed.get(batchSecretKey(id))).toBeDefined();
    await run();
    expect(given.at(-1)).toEqual({ secretKey: 'hush' });
    expect(await sealed.get(batchSecretKey(id))).toBeUndefined();
  });

  it('removes its secrets where it is cancelled', async () => {
    const { jobs, sealed } = await replicationTest();
    const { id } = await jobs.start(definition(), 'ann');
    await jobs.cancel(id);
    expect(await sealed.get(batchSecretKey(id))).toBeUndefined();
  });

  it('sends a report at the end, and closes the connections', async () => {
    const { jobs, run, reports, write, state } = await replicationTest();
    await write('a', 'x');
    await jobs.start(definition('', ', notify: {endpoint: "http://n/", token: t}'), 'ann');
    await run();
    expect(reports).toMatchObject([
      { jobType: 'replicate', complete: true, replicate: { objects: 1, bytesTransferred: 1 } },
    ]);
    // The check at the start, and the job.
    expect(state.closed).toBe(2);
  });
});
