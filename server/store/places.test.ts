import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { key } from './keys.ts';
import { MemoryRecordStore } from './memory/record-store.ts';
import { newSegmentId, packedId } from './packed-id.ts';
import { crossingsOf } from './places.ts';
import type { Batch, Key } from './record-store.ts';
import { newSlottedId } from './slot.ts';

const absent = (one: Key) => ({ kind: 'absent' as const, key: one });
const value = Buffer.from('value');
const putAll = (...keys: readonly Key[]) => keys.map((one) => ({ key: one, value }));
const batch = (changes: Omit<Batch, 'id'>): Batch => ({ id: randomBytes(16).toString('hex'), ...changes });
const needed = (changes: Omit<Batch, 'id'>, options = {}) => [...crossingsOf(batch(changes), options)];

const [bucket, object, keyUse] = [key('b', 'photos'), key('o', 'photos', 'cat.jpg'), key('k', 'use', 'key')];
const ownerIn = (name: string) => key('r', newSlottedId(name, 1, randomBytes));

describe('a commit', () => {
  it('needs nothing of the list where its records are in one place', () => {
    const counter = { key: key('quota', 'photos', 'counter'), delta: 1n };
    expect(needed({ expect: [absent(bucket)], put: putAll(object, ownerIn('photos')), add: [counter] })).toEqual([]);
    expect(needed({ put: putAll(keyUse, key('s', 'identities', 'head')), delete: [key('usage', 'last')] })).toEqual([]);
  });

  it('may cross as the list says', () => {
    expect(needed({ expect: [absent(keyUse)], put: putAll(object) })).toEqual(['keyUse']);
    const packed = packedId({ segment: newSegmentId(randomBytes), offset: 0, length: 9 });
    expect(
      needed({ expect: [absent(bucket), absent(key('t', packed))], put: putAll(object, key('r', packed)) }),
    ).toEqual(['segment']);
  });

  it('may need two entries of the list', () => {
    const term = key('live', 'lease', 'background', 'term');
    expect(needed({ expect: [absent(term), absent(keyUse)], put: putAll(object) })).toEqual(['lease', 'keyUse']);
  });

  it.each([
    ['changes what it may only expect', { put: putAll(keyUse, object) }],
    ['has two buckets', { put: putAll(object, key('o', 'plants', 'oak')) }],
    ['expects another bucket', { expect: [absent(key('b', 'plants'))], put: putAll(object) }],
    ['claims a body with the slot of another bucket', { put: putAll(object, ownerIn('plants')) }],
    ['counts in another bucket', { put: putAll(object), add: [{ key: key('promotions', 'plants'), delta: 1n }] }],
    ['removes an identity with a bucket', { delete: [bucket, key('s', 'identities', 'user', 'photos')] }],
  ])('is refused where it %s', (_, changes) => {
    expect(() => needed(changes)).toThrow('a commit for each place');
  });

  it('is refused with the kinds of its records and their places', () => {
    expect(() => needed({ put: putAll(keyUse, object) })).toThrow(
      'a commit changes "o" in slot 84a6 and changes "k use" in the place of the deployment: ',
    );
  });

  it('may have an id with any slot where the test has made ids of before', () => {
    const changes = { put: putAll(object, ownerIn('plants')) };
    expect(needed(changes, { idsMadeBefore: true })).toEqual(['idsMadeBefore']);
  });
});

describe('the record store of the tests', () => {
  const crossing = batch({ put: putAll(object, key('o', 'plants', 'oak')) });

  it('refuses a commit that crosses, and changes nothing', async () => {
    const store = new MemoryRecordStore();
    await expect(store.commit(crossing)).rejects.toThrow('a commit for each place');
    expect(await store.get(object)).toBeUndefined();
  });

  it('refuses a kind of record without a place', async () => {
    const store = new MemoryRecordStore();
    await expect(store.commit(batch({ put: putAll(key('unknown', 'x')) }))).rejects.toThrow(
      'the kind of records "unknown" has no place: add it to places.ts',
    );
  });

  it('remembers what it allowed, also after a crash', async () => {
    const store = new MemoryRecordStore();
    await store.commit(batch({ expect: [absent(keyUse)], put: putAll(object) }));
    expect([...store.crash().crossed]).toEqual(['keyUse']);
  });

  it('takes all where its keys are none of the server', async () => {
    expect(await new MemoryRecordStore({ places: 'unchecked' }).commit(crossing)).toMatchObject({ kind: 'committed' });
  });
});
