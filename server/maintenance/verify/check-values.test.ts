import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { backendKeyRecord } from '../../encryption/backend-key.ts';
import { sealedKey, sealedRecords } from '../../encryption/sealed-records.ts';
import { encodeRecord, recordKeys } from '../../objects/records/record-format.ts';
import { commitOnce, encodeCounter } from '../../store/commits.ts';
import { key } from '../../store/keys.ts';
import type { Key } from '../../store/record-store.ts';
import { testLayer } from '../../../test/support/objects/test-layer.ts';
import type { Issue } from './issue.ts';
import { verifyStores } from './verify-stores.ts';

/** A store with a record of each kind that holds no object, and what verify finds in it. */
async function filled({ sealing = false } = {}) {
  const test = testLayer();
  const { records } = test;
  await test.layer.createBucket('bucket', { location: '' });
  const sealed = sealedRecords({ records, keys: test.keys });
  await sealed.start({ turnOn: sealing });
  await sealed.put(sealedKey('iam', 'user', 'ann'), Buffer.from('{"accessKey":"ann"}'));
  await sealed.put(sealedKey('sts-expiry', 'time', 'key'), Buffer.from('ann'));
  const json = encodeRecord({ some: 'value' });
  for (const place of jsonRecords) await write(records, place, json);
  for (const place of counters) await write(records, place, encodeCounter(1n));
  const issues = () => Array.fromAsync<Issue>(verifyStores({ ...test, now: Date.now() }));
  return { records, issues };
}

const write = (records: ReturnType<typeof testLayer>['records'], place: Key, value: Buffer) =>
  commitOnce(records, { put: [{ key: place, value }] }, randomBytes);

const jsonRecords: readonly Key[] = [
  recordKeys.accountBlock,
  recordKeys.accessLog('bucket'),
  recordKeys.inventory('bucket'),
  recordKeys.keyUse('some-key'),
  key('batch-job', 'one'),
  key('outbox', 'target', 'group', Buffer.alloc(16, 7)),
  key('outbox-held', 'target', 'group', Buffer.alloc(16, 7)),
  key('outbox-state', 'target'),
  key('system', 'reseal'),
  key('tier-removal', 'one'),
  key('background', 'one'),
  key('g', 'segment'),
  key('inventory-state', 'bucket', 'one'),
  key('lifecycle', 'bucket'),
  key('metrics', 'one'),
  key('replication-stats', 'target'),
  key('scrub', 'state'),
  key('segments', 'pack'),
  key('segments', 'space'),
  key('system', 'digests'),
  key('system', 'pause', 'scrub'),
  key('usage', 'buckets'),
  key('usage', 'day', '2026-01-01'),
  key('usage', 'last'),
  recordKeys.quotaCount('bucket', 'counter'),
  recordKeys.dueTransition(Buffer.alloc(16, 7)),
  recordKeys.askedRestore(Buffer.alloc(16, 7)),
  recordKeys.restored(Buffer.alloc(16, 7)),
];

const counters: readonly Key[] = [
  recordKeys.quotaBytes('bucket', 'counter'),
  recordKeys.partCommits('upload'),
  recordKeys.promotions('bucket'),
  key('outbox-dropped', 'target'),
  key('outbox-held-count', 'target', 'dropped'),
  key('replication-proxied', 'target', 'kind'),
  key('usage', 'asked'),
];

/** Forms that a damaged value may have. */
const damages: Readonly<Record<string, (value: Buffer) => Buffer>> = {
  'is empty': () => Buffer.alloc(0),
  'is zeroed': (value) => Buffer.alloc(value.length),
  'is cut': (value) => value.subarray(0, value.length >> 1),
  'begins with another byte': (value) => Buffer.concat([Buffer.of(0x7f), value.subarray(1)]),
};

describe('a record that holds no object', () => {
  it.each([{ sealing: false }, { sealing: true }])('is no issue where it is whole: %j', async (options) => {
    expect(await (await filled(options)).issues()).toEqual([]);
  });

  const plain = [...jsonRecords, sealedKey('iam', 'user', 'ann')];
  it.each(
    plain.flatMap((place) => Object.keys(damages).map((damage) => [place.toString('latin1'), damage, place] as const)),
  )('%j is told where it %s', async (_, damage, place) => {
    const { records, issues } = await filled();
    await expectTold({ records, issues }, place, damage);
  });

  // Any eight bytes are a counter.
  it.each(
    counters.flatMap((place) =>
      ['is empty', 'is cut'].map((damage) => [place.toString('latin1'), damage, place] as const),
    ),
  )('%j is told, a counter, where it %s', async (_, damage, place) => {
    await expectTold(await filled(), place, damage);
  });

  it.each([{}, { initiated: 'now', headers: {} }, { initiated: 1 }, { initiated: 1, headers: 'none' }, [], null])(
    'is told of an upload whose JSON is of another form: %j',
    async (form) => {
      const { records, issues } = await filled();
      const value = Buffer.concat([Buffer.of(1), Buffer.from(JSON.stringify(form))]);
      await write(records, recordKeys.upload('bucket', 'key', 'a'.repeat(32)), value);
      expect(await issues()).toEqual([told]);
    },
  );

  const sealed = [backendKeyRecord, sealedKey('iam', 'user', 'ann'), sealedKey('sts-expiry', 'time', 'key')];
  it.each(
    sealed.flatMap((place) =>
      ['is empty', 'begins with another byte', ...(place === backendKeyRecord ? ['is cut', 'is zeroed'] : [])].map(
        (damage) => [place.toString('latin1'), damage, place] as const,
      ),
    ),
  )('%j is told, sealed, where it %s', async (_, damage, place) => {
    await expectTold(await filled({ sealing: true }), place, damage);
  });
});

async function expectTold({ records, issues }: Awaited<ReturnType<typeof filled>>, place: Key, damage: string) {
  const entry = await records.get(place);
  if (entry === undefined) throw new Error('the record is not there');
  await write(records, place, damages[damage]?.(entry.value) ?? entry.value);
  expect(await issues()).toEqual([told]);
}

const told = {
  kind: 'unreadable-record',
  record: expect.any(String) as string,
  message: expect.any(String) as string,
};
