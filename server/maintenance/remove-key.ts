import { randomBytes } from 'node:crypto';
import { unsealedKeyLimits } from '../encryption/key-service-keys.ts';
import { findKeyUse, type KeyUse, writeKeyUse } from '../objects/records/key-use-record.ts';
import type { RecordStore } from '../store/record-store.ts';
import { type KeyUsage, keyUsage } from './key-usage.ts';

export interface RemoveKeyOptions {
  readonly records: RecordStore;
  readonly keyName: string;
  /** Of new objects for which nobody names a key. */
  readonly defaultKey: string;
  /** Whether what is encrypted with it may be lost. */
  readonly force: boolean;
  /** Takes the key away at the key service. */
  readonly remove: () => Promise<void>;
  /** Whether the key service still has it. */
  readonly exists: () => Promise<boolean>;
  readonly clock?: () => number;
  readonly random?: (size: number) => Buffer;
}

/** The message says what uses the key. */
export class KeyInUse extends Error {
  override readonly name = 'KeyInUse';
  readonly usage: KeyUsage | undefined;
  constructor(message: string, usage?: KeyUsage) {
    super(message);
    this.usage = usage;
  }
}

/**
 * Removes a key that nothing uses. No object is encrypted with it from the moment that it is marked, on any server; then what there
 * is is counted, and only then the key goes. The default key, and that of the backend, are never removed.
 *
 * @returns what was lost with it, where it was forced
 */
export async function removeKey(options: RemoveKeyOptions): Promise<KeyUsage | undefined> {
  const { records, keyName, force, clock = Date.now, random = randomBytes } = options;
  if (keyName === options.defaultKey) {
    throw new KeyInUse(`${keyName} is the default key of this server: name another one in its settings first`);
  }
  await mark(records, keyName, { state: 'leaving', since: clock() }, random);
  try {
    const usage = (await keyUsage({ records })).get(keyName);
    if (usage?.backend === true) {
      throw new KeyInUse(`identities and settings are sealed under ${keyName}: it cannot be removed`, usage);
    }
    if (usage !== undefined && !force) throw new KeyInUse(sentence(keyName, usage), usage);
    await options.remove();
    await mark(records, keyName, { state: 'gone', since: clock() }, random);
    return usage;
  } catch (error) {
    // Where the key service was not heard, the key may be gone: no object is encrypted with it until somebody asks again.
    if (error instanceof KeyInUse || (await options.exists().catch(() => false))) {
      await mark(records, keyName, { state: 'live', since: clock() }, random);
    }
    throw error;
  }
}

/** How long servers may still hold data keys of a key that was removed, milliseconds; with room for their clocks. */
const REMEMBERED = unsealedKeyLimits.lifetimeMs + 60_000;

/** Milliseconds until a key of this name may be made again; 0 where it may be now. */
export async function untilKeyMayReturn(records: RecordStore, keyName: string, now: number): Promise<number> {
  const found = await findKeyUse(records, keyName);
  return found?.use.state === 'gone' ? Math.max(0, found.use.since + REMEMBERED - now) : 0;
}

/** Lets objects be encrypted with a key that was made again. */
export async function keyReturned(
  records: RecordStore,
  keyName: string,
  now: number,
  random: (size: number) => Buffer = randomBytes,
): Promise<void> {
  if ((await findKeyUse(records, keyName))?.use.state !== 'gone') return;
  await mark(records, keyName, { state: 'live', since: now }, random);
}

async function mark(
  records: RecordStore,
  keyName: string,
  use: KeyUse,
  random: (size: number) => Buffer,
): Promise<void> {
  while (!(await writeKeyUse(records, keyName, await findKeyUse(records, keyName), use, random)));
}

function sentence(keyName: string, { objects, uploads, buckets }: KeyUsage): string {
  const parts = [
    objects === 0 ? [] : counted(objects, 'object'),
    uploads === 0 ? [] : counted(uploads, 'upload'),
    buckets.length === 0
      ? []
      : `the default of ${buckets.slice(0, 5).join(', ')}${buckets.length > 5 ? ' and others' : ''}`,
  ].flat();
  return `${keyName} is used by ${parts.join(', ')}: rotate them to another key first; what is encrypted with a key that is removed is lost`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
