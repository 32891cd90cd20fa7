import type { KeyUsage } from '../../../protocol/admin/keys.ts';
import { counted } from '../../../platform/text/message-text.ts';
import { backendKeyRecord, keyOfBackend } from '../../encryption/backend-key.ts';
import type { KeyCanaries } from '../../../protocol/key-service/canary.ts';
import { canariesRecord, listCanaries } from '../../encryption/key-canaries.ts';
import { decodeBucket } from '../../objects/records/bucket-record.ts';
import { decodeHead, hasHead, decodeObject } from '../../objects/records/object-record.ts';
import { isLocked } from '../../objects/versions/object-lock.ts';
import { decodeUpload } from '../../objects/records/upload-record.ts';
import { decodeKey, within } from '../../store/keys.ts';
import type { Key, RecordStore } from '../../store/record-store.ts';
import { entries } from '../verify/object-records.ts';
import { versionPass } from './version-pass.ts';
import { randomBytes } from 'node:crypto';
import { unsealedKeyLimits } from '../../encryption/key-service-keys.ts';
import { type RewrapState, readRewrapState, writeRewrapState } from './rewrap-state.ts';
import { MaintenanceError } from '../maintenance-error.ts';
import { threadLockClock } from '../../objects/contract/lock-clock.ts';
import { findKeyUse, type KeyUse, writeKeyUse } from '../../objects/records/key-use.ts';

interface UsageOptions {
  readonly records: RecordStore;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (looked: number) => void;
}

const MAX_BUCKETS = 100;
const none: KeyUsage = { objects: 0, uploads: 0, buckets: [], backend: false };

/**
 * Counts usage by key name, for every key that is used. It reads the records of all objects and no body: a million takes some seconds.
 * Uploads are counted first: an upload that completes meanwhile is counted as an object.
 */
export async function keyUsage({ records, signal, onProgress }: UsageOptions): Promise<Map<string, KeyUsage>> {
  const found = new Map<string, KeyUsage>();
  const count = (keyName: string, change: (usage: KeyUsage) => KeyUsage) =>
    found.set(keyName, change(found.get(keyName) ?? none));
  const backend = await records.get(backendKeyRecord);
  if (backend !== undefined) count(keyOfBackend(backend.value), (usage) => ({ ...usage, backend: true }));
  for await (const { key, value } of entries(records, within('b'))) {
    const bucket = String(decodeKey(key)[1]);
    const { encryption } = decodeBucket(value, bucket);
    if (encryption?.scheme !== 'SSE-KMS' || encryption.keyName === undefined) continue;
    count(encryption.keyName, (usage) =>
      usage.buckets.length < MAX_BUCKETS ? { ...usage, buckets: [...usage.buckets, bucket] } : usage,
    );
  }
  for await (const { key, value } of entries(records, within('u'))) {
    signal?.throwIfAborted();
    const { sealed } = decodeUpload(value, String(decodeKey(key)[3]));
    if (sealed === undefined || sealed.scheme === 'SSE-C') continue;
    count(sealed.keyName, (usage) => ({ ...usage, uploads: usage.uploads + 1 }));
  }
  let looked = 0;
  const counted = new Set<string>();
  for await (const { entry, position } of versionPass(records, {}, signal)) {
    looked += 1;
    if (looked % 1_000 === 0) onProgress?.(looked);
    const keyName = keyOfObject(entry.key, entry.value);
    // To read a bucket again finds those that moved. They count where nothing else has the key: then it must not be removed.
    if (keyName === undefined || (position.table === 'again' && counted.has(keyName))) continue;
    if (position.table !== 'again') counted.add(keyName);
    count(keyName, (usage) => ({ ...usage, objects: usage.objects + 1 }));
  }
  onProgress?.(looked);
  return found;
}

/** Undefined where no key of the key service encrypts the object. Plain objects are not decoded. */
function keyOfObject(recordKey: Buffer, value: Buffer): string | undefined {
  const [, bucket = '', key = ''] = decodeKey(recordKey).map(String);
  if (hasHead(value) && !decodeHead(value, `object ${bucket}/${key}`).encrypted) return undefined;
  const { sealed } = decodeObject(value, bucket, key);
  return sealed === undefined || sealed.scheme === 'SSE-C' ? undefined : sealed.keyName;
}

/** Returns a version under object lock that the key encrypts. To lose the key would be to lose the version before its retention ends. */
async function lockedUnder(records: RecordStore, keyName: string, now: number): Promise<string | undefined> {
  for await (const { entry, place } of versionPass(records, {}, undefined)) {
    if (keyOfObject(entry.key, entry.value) !== keyName) continue;
    if (isLocked(decodeObject(entry.value, place.bucket, place.key), now)) return `${place.bucket}/${place.key}`;
  }
  return undefined;
}

interface RemoveKeyOptions {
  readonly records: RecordStore;
  readonly keyName: string;
  /** The key of new objects whose request names none. */
  readonly defaultKey: string;
  /** True where data that the key encrypts may be lost. */
  readonly force: boolean;
  /** Removes the key at the key service. */
  readonly remove: () => Promise<void>;
  /** Resolves to true while the key service has the key. */
  readonly exists: () => Promise<boolean>;
  readonly clock?: () => number;
  readonly random?: (size: number) => Buffer;
}

/**
 * Removes a key that nothing uses. The key is marked first, so that no server encrypts another object with it; then its usage is
 * counted, and only then it is removed. The default key and the key of the backend are never removed, nor is one that encrypts a version
 * under object lock.
 *
 * @returns the data that was lost with the key, where `force` is set
 */
export async function removeKey(options: RemoveKeyOptions): Promise<KeyUsage | undefined> {
  const { records, keyName, force, clock = Date.now, random = randomBytes } = options;
  if (keyName === options.defaultKey) {
    throw new MaintenanceError(
      'key-in-use',
      `${keyName} is the default key of this server: name another one in its settings first`,
    );
  }
  await mark(records, keyName, { state: 'leaving', since: clock() }, random);
  try {
    const usage = (await keyUsage({ records })).get(keyName);
    if (usage?.backend === true) {
      throw new MaintenanceError(
        'key-in-use',
        `identities and settings are sealed under ${keyName}: it cannot be removed`,
      );
    }
    const locked =
      force && usage !== undefined
        ? await lockedUnder(records, keyName, Math.min(clock(), threadLockClock.earliest()))
        : undefined;
    if (locked !== undefined) {
      throw new MaintenanceError(
        'key-in-use',
        `${keyName} encrypts versions under object lock, such as ${locked}, which nobody may lose: seal them under another key first`,
      );
    }
    if (usage !== undefined && !force) throw new MaintenanceError('key-in-use', sentence(keyName, usage));
    await options.remove();
    // A later key of this name is another one, which the canaries of this one must not refuse.
    await mark(records, keyName, { state: 'gone', since: clock() }, random, [canariesRecord(keyName)]);
    return usage;
  } catch (error) {
    // The answer of the key service may have been lost, and the key with it: no object is encrypted with it until the removal is asked
    // for again.
    if (error instanceof MaintenanceError || (await options.exists().catch(() => false))) {
      await mark(records, keyName, { state: 'live', since: clock() }, random);
    }
    throw error;
  }
}

/** The time for which servers may still have data keys of a removed key, in milliseconds, with a margin for their clocks. */
const DATA_KEY_LIFETIME = unsealedKeyLimits.lifetimeMs + 60_000;

/** Returns the milliseconds until a key of this name may be created again; 0 where it may be now. */
export async function untilKeyMayReturn(records: RecordStore, keyName: string, now: number): Promise<number> {
  const found = await findKeyUse(records, keyName);
  return found?.use.state === 'gone' ? Math.max(0, found.use.since + DATA_KEY_LIFETIME - now) : 0;
}

/** Allows objects to be encrypted with a key that was created again. */
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
  alsoDelete: readonly Key[] = [],
): Promise<void> {
  while (!(await writeKeyUse(records, keyName, await findKeyUse(records, keyName), use, random, alsoDelete)));
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

/** The usage of named keys in the store, their removal, and their rotation. */
export interface KeyLifecycle {
  usage(): Promise<ReadonlyMap<string, KeyUsage>>;
  /** Rejects with `MaintenanceError`, code `key-in-use`. */
  remove(options: Omit<RemoveKeyOptions, 'records'>): Promise<KeyUsage | undefined>;
  /** Resolves to the milliseconds until a key of this name may be created again. */
  untilMayReturn(keyName: string): Promise<number>;
  returned(keyName: string): Promise<void>;
  /** The canaries of every key under which anything was sealed. */
  canaries(): Promise<readonly KeyCanaries[]>;
  /** Rejects with `MaintenanceError`, code `rotation-in-progress`. */
  mayRotate(): Promise<void>;
  /** Asks for a rotation, which the leading server runs. Rejects with `MaintenanceError`, code `rotation-in-progress`. */
  rotate(asked: Pick<RewrapState, 'from' | 'to' | 'version' | 'mode' | 'objectsPerSecond'>): Promise<RewrapState>;
  /** Resolves to the rotation in progress, or the last one. */
  rotation(): Promise<RewrapState | undefined>;
}

export function createKeyLifecycle(
  records: RecordStore,
  { clock = Date.now, random = randomBytes }: { clock?: () => number; random?: (size: number) => Buffer } = {},
): KeyLifecycle {
  async function mayRotate(): Promise<void> {
    const known = await readRewrapState(records);
    if (known === undefined || known.finished !== undefined) return;
    const { from, to, looked, againAfter } = known;
    const what = from === to ? `its newest version` : to;
    const until =
      againAfter === undefined
        ? 'wait until that ended'
        : `a second pass begins at ${new Date(againAfter).toISOString()}: wait until then`;
    throw new MaintenanceError(
      'rotation-in-progress',
      `objects of ${from} are moved to ${what} now, ${looked} of them so far: ${until}`,
    );
  }
  return {
    mayRotate,
    usage: () => keyUsage({ records }),
    remove: (options) => removeKey({ ...options, records }),
    untilMayReturn: (keyName) => untilKeyMayReturn(records, keyName, clock()),
    returned: (keyName) => keyReturned(records, keyName, clock(), random),
    canaries: () => listCanaries(records),
    async rotate(asked) {
      await mayRotate();
      const state = { ...asked, started: clock(), looked: 0, done: 0, failed: 0 };
      await writeRewrapState(records, state, random);
      return state;
    },
    rotation: () => readRewrapState(records),
  };
}
