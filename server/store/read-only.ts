import { randomBytes } from 'node:crypto';
import { commitOnce } from './commit-once.ts';
import { key, prefixOf } from './keys.ts';
import type { Batch, RecordStore } from './record-store.ts';
import { StoreUnavailable } from './record-store.ts';

/** There while the store takes no changes: it is copied, or put aside. */
export const readOnlyKey = key('system', 'read-only');

/** How old what a server knows of the mark may be, milliseconds. Who sets it waits for longer before it relies on it. */
const KNOWN_FOR = 1_000;

/** What servers write about themselves does not count as a change. */
const always = [prefixOf('live'), prefixOf('system'), prefixOf('hold')];

export async function isReadOnly(records: Pick<RecordStore, 'get'>): Promise<boolean> {
  return (await records.get(readOnlyKey)) !== undefined;
}

/** The mark, for all servers of the store. A server that runs heeds it within a second. */
export async function setReadOnly(records: RecordStore, readOnly: boolean): Promise<void> {
  await commitOnce(
    records,
    readOnly ? { put: [{ key: readOnlyKey, value: Buffer.from('1') }] } : { delete: [readOnlyKey] },
    randomBytes,
  );
}

/** The store, which refuses changes while the mark is there. */
export function heedReadOnly(records: RecordStore, clock: () => number = Date.now): RecordStore {
  let asked = -Infinity;
  let marked = false;
  return {
    get: (wanted) => records.get(wanted),
    getAll: (keys) => records.getAll(keys),
    scan: (range) => records.scan(range),
    ...(records.scanPages && { scanPages: records.scanPages.bind(records) }),
    outcome: (id) => records.outcome(id),
    ...(records.space && { space: records.space.bind(records) }),
    ...(records.backup && { backup: records.backup.bind(records) }),
    close: () => records.close(),
    async commit(batch) {
      const now = clock();
      if (now - asked >= KNOWN_FOR || now < asked) {
        marked = await isReadOnly(records);
        asked = now;
      }
      if (marked && changesData(batch)) {
        throw new StoreUnavailable(
          'read-only',
          'The store is read-only at the moment: it is being moved or was put aside by an administrator (coffer-store read-only off ends that).',
        );
      }
      return records.commit(batch);
    },
  };
}

function changesData({ put = [], delete: deleted = [], add = [] }: Batch): boolean {
  const keys = [...put.map((entry) => entry.key), ...deleted, ...add.map((entry) => entry.key)];
  return keys.some((changed) => !always.some((prefix) => changed.subarray(0, prefix.length).equals(prefix)));
}
