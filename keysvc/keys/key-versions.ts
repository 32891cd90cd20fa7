import { keyNameError } from '../../protocol/key-service/names.ts';
import { isOutage, KeyError, type KeyStore } from '../keystores/keystore.ts';
import { parseKeyRecord, writeKeyRecord } from './key-record.ts';
import { type Key, successorOf } from './key.ts';

/** A named key. The newest version encrypts, and every version decrypts its own ciphertexts. */
export interface KeyVersions {
  readonly newest: Key;
  /** Oldest first; at least one. */
  readonly all: readonly Key[];
  /** Why the store refused to say whether there is a later version, for a ciphertext that names one. */
  readonly refusal?: KeyError | undefined;
}

/**
 * Later versions are separate records, `NAME--2` and so on, since a store never replaces a record. Such a record names its key, so that
 * neither another key of this name nor the rest of a deleted key counts.
 */
function slotName(name: string, number: number): string | undefined {
  const slot = `${name}--${number}`;
  return keyNameError(slot) === undefined ? slot : undefined;
}

/** Returns the name of the key that a record with this name may belong to. */
function ownerOfSlot(name: string): string | undefined {
  return /^(.+)--[1-9]\d*$/.exec(name)?.[1];
}

/** More than the rotations of any key. */
const maxVersions = 1000;

/** The maximum length of a name that leaves space for the number of every version. */
export const maxRotatedName = 75;

/**
 * Reads a key and all its versions. With a known refusal of later versions it does not ask for them.
 *
 * @throws KeyError
 */
export async function readVersions(store: KeyStore, name: string, refusal?: KeyError): Promise<KeyVersions> {
  // Most keys have one version. Reading both at once costs no time.
  const [first, second] = await Promise.all([readKey(store, name), refusal ?? readLaterSlot(store, name, 2)]);
  if (first.rotation !== undefined) throw new KeyError('not-found', `${name} is a version of another key`);
  const all = [first];
  let slot = second;
  for (let number = 2; slot !== undefined && !(slot instanceof KeyError) && number < maxVersions; number++) {
    if (isVersionOf(slot, name, first)) all.push(slot);
    slot = await readLaterSlot(store, name, number + 1);
  }
  const newest = all.at(-1) ?? first;
  return slot instanceof KeyError ? { newest, all, refusal: slot } : { newest, all };
}

/**
 * Reads the record of a later version. The policy of the store may be for the records of one key alone, which counts as no later version.
 */
async function readLaterSlot(store: KeyStore, name: string, number: number): Promise<Key | KeyError | undefined> {
  try {
    return await readSlot(store, name, number);
  } catch (error) {
    if (error instanceof KeyError && error.lacksPermission) return error;
    throw error;
  }
}

/**
 * Adds a version, which encrypts from now on. Of concurrent calls one adds a version, and all return it.
 *
 * @throws KeyError
 */
export async function addVersion(
  store: KeyStore,
  name: string,
  now: Date,
  by: string | undefined,
): Promise<KeyVersions> {
  const before = await readVersions(store, name);
  if (before.refusal !== undefined) throw before.refusal;
  const [first = before.newest] = before.all;
  for (let number = before.all.length + 1; number < maxVersions; number++) {
    const slot = slotName(name, number);
    if (slot === undefined) break;
    try {
      await store.create(slot, writeKeyRecord(successorOf(first, name, now, by)));
      return await readVersions(store, name);
    } catch (error) {
      if (!(error instanceof KeyError && error.code === 'exists')) throw error;
      const after = await readVersions(store, name);
      if (after.all.length > before.all.length) return after;
    }
  }
  throw new KeyError('unavailable', `the key "${name}" has no room for another version`);
}

/**
 * Deletes every version, the first one last, so that the key exists until then.
 *
 * The store decides whether the key exists: it may have a deleted key that can be recovered, or one that cannot be read.
 *
 * @throws KeyError `not-found`
 */
export async function deleteVersions(store: KeyStore, name: string): Promise<void> {
  const all = await countVersions(store, name);
  const slots: string[] = [];
  for (let number = 2, found = 1; found < all; number++) {
    const slot = slotName(name, number);
    if (slot === undefined) break;
    const key = await readSlot(store, name, number);
    if (key === undefined) break;
    if (key.rotation?.name !== name) continue;
    found++;
    slots.push(slot);
  }
  for (const slot of slots.reverse()) await store.delete(slot);
  await store.delete(name);
}

/**
 * Counts the versions; 1 where the first cannot be read.
 *
 * @throws KeyError `not-found` when the record is a version of another key
 */
async function countVersions(store: KeyStore, name: string): Promise<number> {
  try {
    return (await readVersions(store, name)).all.length;
  } catch (error) {
    if (!(error instanceof KeyError) || isOutage(error)) throw error;
    // Deleting a version alone would break its key.
    if (error.code === 'not-found' && (await isVersionRecord(store, name))) throw error;
    return 1;
  }
}

/** Lists the names of the keys, without the records of later versions. */
export async function* listKeyNames(store: KeyStore): AsyncIterable<string> {
  for await (const name of store.list()) {
    if (ownerOfSlot(name) === undefined || !(await isVersionRecord(store, name))) yield name;
  }
}

async function isVersionRecord(store: KeyStore, name: string): Promise<boolean> {
  try {
    return (await readKey(store, name)).rotation !== undefined;
  } catch (error) {
    // The record was deleted meanwhile, or is corrupted. An unknown record is listed.
    if (error instanceof KeyError && (error.code === 'not-found' || error.code === 'corrupted')) return false;
    throw error;
  }
}

function isVersionOf(key: Key, name: string, first: Key): boolean {
  return key.rotation?.name === name && key.rotation.first === first.id;
}

async function readSlot(store: KeyStore, name: string, number: number): Promise<Key | undefined> {
  const slot = slotName(name, number);
  if (slot === undefined) return undefined;
  try {
    return await readKey(store, slot);
  } catch (error) {
    if (error instanceof KeyError && error.code === 'not-found') return undefined;
    throw error;
  }
}

async function readKey(store: KeyStore, name: string): Promise<Key> {
  const record = await store.get(name);
  try {
    return parseKeyRecord(record);
  } catch (error) {
    throw new KeyError('corrupted', `key "${name}": ${(error as Error).message}`, { cause: error });
  }
}
