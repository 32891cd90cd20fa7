import { matchesStars } from '../../protocol/text/star-pattern.ts';
import { parseKeyRecord } from './key-record.ts';
import { KeyError, type KeyStore } from '../keystores/keystore.ts';

export interface Migration {
  readonly from: KeyStore;
  readonly to: KeyStore;
  /** A pattern of names; `*` matches any characters. */
  readonly pattern: string;
  /** Compares without writing. */
  readonly dryRun: boolean;
  readonly onKey: (name: string, outcome: KeyOutcome) => void;
}

export type KeyOutcome =
  /** Written to the target and read back. */
  | { readonly kind: 'copied' }
  /** The target already has this key, for example from an interrupted migration. */
  | { readonly kind: 'present' }
  /** The target has another key of this name. The migration never replaces a key. */
  | { readonly kind: 'differs' }
  /** The record cannot be read, or is not a key. */
  | { readonly kind: 'failed'; readonly reason: string };

/** Concurrent keys, since remote stores answer slowly. */
const atATime = 4;

/**
 * Copies every key with its versions, byte for byte, and reads each back. A failure of one key does not stop the others.
 *
 * @throws KeyError when a store is unavailable; a later call continues
 */
export async function migrateKeys(migration: Migration): Promise<void> {
  const names = migration.from.list()[Symbol.asyncIterator]();
  const worker = async () => {
    for (let next = await names.next(); next.done !== true; next = await names.next()) {
      if (matchesStars(migration.pattern, next.value))
        migration.onKey(next.value, await migrateKey(migration, next.value));
    }
  };
  await Promise.all(Array.from({ length: atATime }, worker));
}

async function migrateKey({ from, to, dryRun }: Migration, name: string): Promise<KeyOutcome> {
  try {
    const record = await from.get(name);
    parseKeyRecord(record);
    const there = await getIfThere(to, name);
    if (there !== undefined) return { kind: isSameKey(there, record) ? 'present' : 'differs' };
    if (dryRun) return { kind: 'copied' };
    return await copy(to, name, record);
  } catch (error) {
    const isOfThisKey = error instanceof KeyError && (error.code === 'corrupted' || error.code === 'not-found');
    if (isOfThisKey) return { kind: 'failed', reason: error.message };
    throw error;
  }
}

async function copy(to: KeyStore, name: string, record: Buffer): Promise<KeyOutcome> {
  try {
    await to.create(name, record);
  } catch (error) {
    // Another process created it meanwhile, or an earlier attempt whose answer was lost did.
    if (!(error instanceof KeyError && error.code === 'exists')) throw error;
  }
  const written = await to.get(name);
  return { kind: written.equals(record) ? 'copied' : 'differs' };
}

/** Programs of two generations may write the same key differently. */
function isSameKey(one: Buffer, other: Buffer): boolean {
  if (one.equals(other)) return true;
  const [a, b] = [parseKeyRecord(one), parseKeyRecord(other)];
  const sameHmac = a.hmacKey === undefined ? b.hmacKey === undefined : b.hmacKey?.equals(a.hmacKey) === true;
  return a.bytes.equals(b.bytes) && a.algorithm === b.algorithm && sameHmac && a.rotation?.first === b.rotation?.first;
}

async function getIfThere(store: KeyStore, name: string): Promise<Buffer | undefined> {
  try {
    return await store.get(name);
  } catch (error) {
    if (error instanceof KeyError && error.code === 'not-found') return undefined;
    throw error;
  }
}
