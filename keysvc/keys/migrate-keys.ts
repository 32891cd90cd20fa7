import { matchesPattern } from '../../protocol/key-service/names.ts';
import { KeyRecordError, parseKeyRecord } from './key-record.ts';
import { KeyStoreError, type KeyStore } from '../keystores/keystore.ts';

export interface Migration {
  readonly from: KeyStore;
  readonly to: KeyStore;
  /** Names that come along; `*` stands for any characters. */
  readonly pattern: string;
  /** Compares only. */
  readonly dryRun: boolean;
  readonly onKey: (name: string, outcome: KeyOutcome) => void;
}

export type KeyOutcome =
  /** Written to the target and read back. */
  | { readonly kind: 'copied' }
  /** The target has that very key already: a migration that broke off is gone on with in this way. */
  | { readonly kind: 'present' }
  /** The target has another key of that name. Nothing is ever written over. */
  | { readonly kind: 'differs' }
  /** It cannot be read, or is no key. */
  | { readonly kind: 'failed'; readonly reason: string };

/** Keys at a time: stores behind a network answer slowly. */
const atATime = 4;

/**
 * Copies every key, versions included, byte for byte, and reads each back. What is wrong with one key keeps no other from being
 * copied. Errors with a `KeyStoreError` where a store is away: then the same call later goes on.
 */
export async function migrateKeys(migration: Migration): Promise<void> {
  const names = migration.from.list()[Symbol.asyncIterator]();
  const worker = async () => {
    for (let next = await names.next(); next.done !== true; next = await names.next()) {
      if (matchesPattern(migration.pattern, next.value))
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
    const isOfThisKey =
      error instanceof KeyRecordError ||
      (error instanceof KeyStoreError && (error.code === 'corrupted' || error.code === 'not-found'));
    if (isOfThisKey) return { kind: 'failed', reason: error.message };
    throw error;
  }
}

async function copy(to: KeyStore, name: string, record: Buffer): Promise<KeyOutcome> {
  try {
    await to.create(name, record);
  } catch (error) {
    // Made by somebody else meanwhile, or by an earlier attempt whose answer was lost.
    if (!(error instanceof KeyStoreError && error.code === 'exists')) throw error;
  }
  const written = await to.get(name);
  return { kind: written.equals(record) ? 'copied' : 'differs' };
}

/** Two records of one key may be written differently, by programs of two generations. */
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
    if (error instanceof KeyStoreError && error.code === 'not-found') return undefined;
    throw error;
  }
}
