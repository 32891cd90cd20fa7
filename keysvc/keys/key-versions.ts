import { keyNameProblem } from '../../protocol/key-service/names.ts';
import { KeyStoreError, type KeyStore } from '../keystores/keystore.ts';
import { KeyRecordError, parseKeyRecord, writeKeyRecord } from './key-record.ts';
import { type Key, successorOf } from './key.ts';

/** A named key. The newest version seals, every version opens what it sealed. */
export interface KeyVersions {
  readonly newest: Key;
  /** Oldest first; at least one. */
  readonly all: readonly Key[];
}

/**
 * Later versions are records of their own, `NAME--2` and so on: a store writes each record once, and no record is ever replaced. Such a
 * record says whose version it is, so that neither a key that happens to have that name nor the rest of a deleted key counts.
 */
function slotName(name: string, number: number): string | undefined {
  const slot = `${name}--${number}`;
  return keyNameProblem(slot) === undefined ? slot : undefined;
}

/** The name whose version a record of this name may be. */
export function ownerOfSlot(name: string): string | undefined {
  return /^(.+)--[1-9]\d*$/.exec(name)?.[1];
}

/** A record that belongs to a key of another name: callers see no key of this name. */
class VersionOfAnotherKey extends KeyStoreError {
  constructor(name: string) {
    super('not-found', `${name} is a version of another key`);
  }
}

/** More rotations than any key sees in its life. */
const maxVersions = 1000;

/** Characters of a name that leave room for the number of every version. */
export const maxRotatedName = 75;

/** Reads a key and all its versions. Errors with a `KeyStoreError`. */
export async function readVersions(store: KeyStore, name: string): Promise<KeyVersions> {
  // Most keys have one version; asking for both at once costs no time.
  const [first, second] = await Promise.all([readKey(store, name), readSlot(store, name, 2)]);
  if (first.rotation !== undefined) throw new VersionOfAnotherKey(name);
  const all = [first];
  let slot = second;
  for (let number = 2; slot !== undefined && number < maxVersions; number++) {
    if (isVersionOf(slot, name, first)) all.push(slot);
    slot = await readSlot(store, name, number + 1);
  }
  return { newest: all.at(-1) ?? first, all };
}

/**
 * Adds a version, which seals from now on. Of several at once one adds, and all see the same. Errors with a `KeyStoreError`.
 */
export async function addVersion(
  store: KeyStore,
  name: string,
  now: Date,
  by: string | undefined,
): Promise<KeyVersions> {
  const before = await readVersions(store, name);
  const [first = before.newest] = before.all;
  for (let number = before.all.length + 1; number < maxVersions; number++) {
    const slot = slotName(name, number);
    if (slot === undefined) break;
    try {
      await store.create(slot, writeKeyRecord(successorOf(first, name, now, by)));
      return await readVersions(store, name);
    } catch (error) {
      if (!(error instanceof KeyStoreError && error.code === 'exists')) throw error;
      const after = await readVersions(store, name);
      if (after.all.length > before.all.length) return after;
    }
  }
  throw new KeyStoreError('unavailable', `the key "${name}" has no room for another version`);
}

/**
 * Deletes every version, the first one last: until then the key is there. Errors with `not-found`.
 *
 * The store decides whether there is something to delete: it may hold a deleted key that can be recovered, or one that cannot be read.
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

/** How many versions there are; 1 where the first cannot be read. Errors with `not-found` where the record is another key's version. */
async function countVersions(store: KeyStore, name: string): Promise<number> {
  try {
    return (await readVersions(store, name)).all.length;
  } catch (error) {
    if (!(error instanceof KeyStoreError) || error instanceof VersionOfAnotherKey) throw error;
    if (error.code === 'unreachable' || error.code === 'unavailable') throw error;
    return 1;
  }
}

/** Every key by its name, without the records of later versions. */
export async function* listKeyNames(store: KeyStore): AsyncIterable<string> {
  for await (const name of store.list()) {
    if (ownerOfSlot(name) === undefined || !(await isVersionRecord(store, name))) yield name;
  }
}

async function isVersionRecord(store: KeyStore, name: string): Promise<boolean> {
  try {
    return (await readKey(store, name)).rotation !== undefined;
  } catch (error) {
    // Deleted meanwhile, or damaged: what it is cannot be told, so it is shown.
    if (error instanceof KeyStoreError && (error.code === 'not-found' || error.code === 'corrupted')) return false;
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
    if (error instanceof KeyStoreError && error.code === 'not-found') return undefined;
    throw error;
  }
}

async function readKey(store: KeyStore, name: string): Promise<Key> {
  const record = await store.get(name);
  try {
    return parseKeyRecord(record);
  } catch (error) {
    if (!(error instanceof KeyRecordError)) throw error;
    throw new KeyStoreError('corrupted', `key "${name}": ${error.message}`, { cause: error });
  }
}
