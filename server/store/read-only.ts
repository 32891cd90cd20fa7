import { randomBytes } from 'node:crypto';
import { commitOnce } from './batch.ts';
import { key, prefixOf } from './keys.ts';
import { type Batch, type RecordStore, StoreUnavailable } from './record-store.ts';

/** The key of a record that exists while the store is read-only. */
export const readOnlyKey = key('system', 'read-only');

/** Servers cache the record for this many milliseconds. The command that sets it waits longer than this. */
const KNOWN_FOR = 1_000;

/** Records under these prefixes stay writable: servers write about themselves there. */
const always = [prefixOf('live'), prefixOf('system'), prefixOf('hold')];

export async function isReadOnly(records: Pick<RecordStore, 'get'>): Promise<boolean> {
  return (await records.get(readOnlyKey)) !== undefined;
}

/** Makes the store read-only, or writable again, for all its servers. A running server obeys within a second. */
export async function setReadOnly(records: RecordStore, readOnly: boolean): Promise<void> {
  await commitOnce(
    records,
    readOnly ? { put: [{ key: readOnlyKey, value: Buffer.from('1') }] } : { delete: [readOnlyKey] },
    randomBytes,
  );
}

/** Wraps a store so that it refuses changes while the store is read-only. */
export function heedReadOnly(records: RecordStore, clock: () => number = Date.now): RecordStore {
  let asked = -Infinity;
  let marked = false;
  return {
    get: records.get.bind(records),
    getAll: records.getAll.bind(records),
    scan: records.scan.bind(records),
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
