import { describe, expect, it } from 'vitest';
import { noKeySource } from '../encryption/key-source.ts';
import { sealedRecords, type SealedRecordStore } from '../encryption/sealed-records.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { type ItemKey, type ItemKind, itemId, itemKinds } from './site-items.ts';
import { isNewer, type LedgerEntry, observe, removalsKeptMs, SiteLedger, wanted } from './site-ledger.ts';

const kinds = new Set<ItemKind>(itemKinds);
const ann: ItemKey = { kind: 'user', name: 'ann' };
const photos: ItemKey = { kind: 'bucket', name: 'photos' };
const tags: ItemKey = { kind: 'bucket-tags', name: 'photos' };

function byId<T extends ItemKey>(...items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [itemId(item), item]));
}

const entry = (key: ItemKey, updatedAt: number, digest?: string): LedgerEntry => ({ ...key, updatedAt, digest });

describe('the ledger of a site', () => {
  it('gives a new item the time of its record, or else the current time', () => {
    const live = byId({ ...ann, digest: 'a', updatedAt: 5 }, { ...photos, digest: 'b' });
    expect(observe(new Map(), live, { kinds, now: 9 })).toEqual({
      put: [entry(ann, 5, 'a'), entry(photos, 9, 'b')],
      drop: [],
    });
  });

  it('notes a change later than the one before, whatever the clock says', () => {
    const live = byId({ ...ann, digest: 'new', updatedAt: 5 });
    expect(observe(byId(entry(ann, 100, 'old')), live, { kinds, now: 9 }).put).toEqual([entry(ann, 101, 'new')]);
  });

  it('notes nothing where nothing changed', () => {
    const live = byId({ ...ann, digest: 'a', updatedAt: 500 });
    expect(observe(byId(entry(ann, 100, 'a')), live, { kinds, now: 9 })).toEqual({ put: [], drop: [] });
  });

  it('notes removals, and drops the settings of a bucket that is gone', () => {
    const ledger = byId(entry(ann, 1, 'a'), entry(photos, 1, 'b'), entry(tags, 1, 'c'));
    expect(observe(ledger, new Map(), { kinds, now: 9 })).toEqual({
      put: [entry(ann, 9), entry(photos, 9)],
      drop: [tags],
    });
  });

  it('takes a setting that was removed from a bucket as removed', () => {
    const ledger = byId(entry(photos, 1, 'b'), entry(tags, 1, 'c'));
    expect(observe(ledger, byId({ ...photos, digest: 'b' }), { kinds, now: 9 }).put).toEqual([entry(tags, 9)]);
  });

  it('keeps what is of a bucket that cannot be read, and of kinds that are not shared', () => {
    const ledger = byId(entry(photos, 1, 'b'), entry(tags, 1, 'c'), entry(ann, 1, 'a'));
    const options = { kinds: new Set<ItemKind>(['bucket', 'bucket-tags']), now: 9, unreadable: new Set(['photos']) };
    expect(observe(ledger, new Map(), options)).toEqual({ put: [], drop: [] });
  });

  it('forgets removals after 90 days, and takes no older ones', () => {
    const now = removalsKeptMs + 100;
    expect(observe(byId(entry(ann, 99)), new Map(), { kinds, now }).drop).toEqual([ann]);
    expect(wanted(new Map(), [entry(ann, 99)], { kinds, now })).toEqual([]);
  });
});

describe('two changes of an item', () => {
  it.each([
    ['the later wins', entry(ann, 2, 'a'), entry(ann, 1, 'b'), true],
    ['the earlier loses', entry(ann, 1, 'b'), entry(ann, 2, 'a'), false],
    ['of two at one time the greater digest wins', entry(ann, 1, 'b'), entry(ann, 1, 'a'), true],
    ['an item wins over its removal at the same time', entry(ann, 1, 'b'), entry(ann, 1), true],
    ['equal changes change nothing', entry(ann, 1, 'b'), entry(ann, 1, 'b'), false],
  ])('%s', (_what, one, other, wins) => {
    expect(isNewer(one, other)).toBe(wins);
  });

  it('are applied from policies to settings, and removed in the reverse order', () => {
    const policy: ItemKey = { kind: 'policy', name: 'p' };
    const group: ItemKey = { kind: 'group', name: 'g' };
    const theirs = [entry(tags, 1, 'a'), entry(policy, 1), entry(photos, 1, 'a'), entry(group, 1), entry(ann, 1, 'a')];
    const order = wanted(new Map(), theirs, { kinds, now: 9 }).map(({ kind }) => kind);
    expect(order).toEqual(['user', 'bucket', 'bucket-tags', 'group', 'policy']);
  });
});

/** A store that fails after this many writes, as a process that is killed. */
async function breakingStore(writes: number): Promise<SealedRecordStore> {
  const store = sealedRecords({ records: new MemoryRecordStore(), keys: noKeySource });
  await store.start();
  let left = writes;
  const guarded =
    <A extends unknown[], R>(write: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      left-- > 0 ? write(...args) : Promise.reject(new Error('killed'));
  return Object.assign(Object.create(store) as SealedRecordStore, {
    get: store.get.bind(store),
    scan: store.scan.bind(store),
    put: guarded(store.put.bind(store)),
    commit: guarded(store.commit.bind(store)),
  });
}

describe('a stored ledger', () => {
  it.each([
    [1, 1],
    [200, 1],
    [250, 2],
  ])('of %i changes has its digest when all are stored, wherever the server is killed', async (length, commits) => {
    const put = Array.from({ length }, (_, at) => entry({ kind: 'user', name: `user-${at}` }, 1, 'a'));
    const after = byId(...put);
    let broken = 0;
    for (let writes = 0; ; writes += 1) {
      const ledger = new SiteLedger(await breakingStore(writes));
      const isWhole = await ledger.write({ put, drop: [] }, after).then(
        () => true,
        () => false,
      );
      // A change that is stored in part is noted again.
      if ((await ledger.read()).size === put.length) expect(await ledger.digest()).toMatch(/^[0-9a-f]{64}$/);
      if (isWhole) break;
      broken += 1;
    }
    expect(broken).toBe(commits);
  });
});
