import { StoreError, isStoreUnavailable } from './store-error.ts';
import { checkKey, key, prefixOf } from './keys.ts';
import { type Batch, type Key, type Outcome, type RecordStore, type Revision } from './record-store.ts';
import { randomBytes } from 'node:crypto';

/** The maximum length of a value in bytes. */
export const VALUE_LIMIT = 16 * 1024 * 1024;

/** Throws `RangeError` unless keys and values are within limits and no key is changed twice. */
export function checkBatch(batch: Batch): void {
  const changed: Key[] = [];
  for (const { key, value } of batch.put ?? []) {
    if (value.length > VALUE_LIMIT) {
      throw new RangeError(`a value of ${value.length} bytes is longer than the ${VALUE_LIMIT} a record may have`);
    }
    changed.push(key);
  }
  for (const key of batch.delete ?? []) changed.push(key);
  for (const { key, max } of batch.add ?? []) {
    if (max !== undefined && max < 0n) throw new RangeError(`a counter cannot have the maximum ${max}`);
    changed.push(key);
  }
  for (const key of changed) checkKey(key);
  for (const { key } of batch.expect ?? []) checkKey(key);
  // Engines would apply two changes of one key in different orders.
  if (hasTwice(changed)) throw new RangeError('a batch changes one key twice');
}

/** Up to this many keys are compared pairwise. Most batches have two to four keys, and a set needs a string for each. */
const FEW = 8;

function hasTwice(keys: readonly Key[]): boolean {
  if (keys.length > FEW) return new Set(keys.map((key) => key.toString('latin1'))).size < keys.length;
  return keys.some((key, at) => keys.some((other, next) => next > at && other.equals(key)));
}

/** Encodes the value of a counter record: a signed 64-bit integer, big-endian. */
export function encodeCounter(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt.asIntN(64, value));
  return bytes;
}

/** Decodes a counter; an absent record counts as 0. Throws `RangeError` for a value that is not a counter. */
export function decodeCounter(value: Buffer | undefined): bigint {
  if (value === undefined) return 0n;
  if (value.length !== 8) throw new RangeError(`a value of ${value.length} bytes is not a counter: counters have 8`);
  return value.readBigInt64BE();
}

/** The final result of a commit. `revision` is absent if the acknowledgement was lost. */
type Settled =
  { readonly kind: 'committed'; readonly revision?: Revision } | { readonly kind: 'conflict'; readonly key: Key };

const ATTEMPTS = 5;

/**
 * Commits a batch and resolves a lost acknowledgement, so that the caller never takes its own commit for a conflict. Throws
 * `StoreError` outcome-unknown if the store cannot say what happened, and one that `isStoreUnavailable` accepts if nothing was changed.
 *
 * @example
 *     const outcome = await commitOnce(records, { put: [{ key: key('bucket', 'photos'), value }] }, randomBytes);
 *     if (outcome.kind === 'conflict') throw new Error('another writer was first');
 */
export async function commitOnce(
  records: Pick<RecordStore, 'commit' | 'outcome'>,
  batch: Omit<Batch, 'id'>,
  random: (size: number) => Buffer,
): Promise<Settled> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const id = random(16).toString('hex');
    const outcome = await records.commit({ ...batch, id });
    if (outcome.kind !== 'unknown') return outcome;
    if ((await settle(records, id)) === 'committed') return { kind: 'committed' };
  }
  throw new StoreError('unreachable', `${ATTEMPTS} commits in a row did not reach the record store`);
}

async function settle(records: Pick<RecordStore, 'outcome'>, id: string): Promise<'committed' | 'not-committed'> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await records.outcome(id);
    } catch (error) {
      if (!isStoreUnavailable(error)) throw error;
      // A store that took the question and did not answer in time would let the client wait for each further attempt.
      if (attempt === ATTEMPTS || error.code === 'closed' || error.code === 'timeout') {
        throw new StoreError(
          'outcome-unknown',
          `the record store cannot say whether commit ${id} took effect: ${error.message}`,
          {
            cause: error,
          },
        );
      }
    }
  }
}

/** The key of a record that exists while the store is read-only. */
const readOnlyKey = key('system', 'read-only');

/** Servers cache the record for this many milliseconds. The command that sets it waits longer than this. */
export const readOnlyKnownMs = 1_000;

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
    ...(records.counts && { counts: records.counts.bind(records) }),
    ...(records.counted && { counted: records.counted.bind(records) }),
    ...(records.recount && { recount: records.recount.bind(records) }),
    ...(records.check && { check: records.check.bind(records) }),
    close: () => records.close(),
    commit(batch) {
      const now = clock();
      // Most commits need not ask, and go on at once.
      if (now - asked < readOnlyKnownMs && now >= asked && !marked) return records.commit(batch);
      return askAndCommit(batch, now);
    },
  };

  async function askAndCommit(batch: Batch, now: number): Promise<Outcome> {
    if (now - asked >= readOnlyKnownMs || now < asked) {
      marked = await isReadOnly(records);
      asked = now;
    }
    if (marked && changesData(batch)) {
      throw new StoreError(
        'read-only',
        'The store is read-only at the moment: it is being moved or was put aside by an administrator (coffer-store read-only off ends that).',
      );
    }
    return records.commit(batch);
  }
}

function changesData({ put = [], delete: deleted = [], add = [] }: Batch): boolean {
  const keys = [...put.map((entry) => entry.key), ...deleted, ...add.map((entry) => entry.key)];
  return keys.some((changed) => !always.some((prefix) => changed.subarray(0, prefix.length).equals(prefix)));
}

/** Returns true if the batch frees space when it is committed, or makes others free it. */
export function freesSpace(batch: Batch): boolean {
  return batch.freesSpace === true || (batch.delete?.length ?? 0) > (batch.put?.length ?? 0);
}
