import { backendKeyRecord, keyOfBackend } from '../../encryption/backend-key.ts';
import { decodeBucket } from '../../objects/records/bucket-record.ts';
import { decodeHead, hasHead } from '../../objects/records/object-head.ts';
import { decodeObject } from '../../objects/records/object-record.ts';
import { decodeUpload } from '../../objects/records/upload-record.ts';
import { decodeKey, within } from '../../store/keys.ts';
import type { RecordStore } from '../../store/record-store.ts';
import { entries } from '../verify/object-records.ts';
import { randomBytes } from 'node:crypto';
import { unsealedKeyLimits } from '../../encryption/key-service-keys.ts';
import { findKeyUse, type KeyUse, writeKeyUse } from '../../objects/encryption/key-use.ts';
import { type ResealState, readResealState, writeResealState } from './rewrap-state.ts';

/** What is encrypted with a named key, and what will be. */
interface KeyUsage {
  readonly objects: number;
  /** Uploads under way. */
  readonly uploads: number;
  /** Buckets whose default it is; at most `MOST_BUCKETS` of them by name. */
  readonly buckets: readonly string[];
  /** Identities and settings. */
  readonly backend: boolean;
}

interface UsageOptions {
  readonly records: RecordStore;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (looked: number) => void;
}

const MOST_BUCKETS = 100;
const none: KeyUsage = { objects: 0, uploads: 0, buckets: [], backend: false };

/**
 * Counts by the name of the key; every key that is used is there. It reads all records of objects, and no body: a million takes some
 * seconds. Uploads come first: one that is completed meanwhile is found as an object.
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
      usage.buckets.length < MOST_BUCKETS ? { ...usage, buckets: [...usage.buckets, bucket] } : usage,
    );
  }
  for await (const { key, value } of entries(records, within('u'))) {
    signal?.throwIfAborted();
    const { sealed } = decodeUpload(value, String(decodeKey(key)[3]));
    if (sealed === undefined || sealed.scheme === 'SSE-C') continue;
    count(sealed.keyName, (usage) => ({ ...usage, uploads: usage.uploads + 1 }));
  }
  let looked = 0;
  for await (const { key, value } of entries(records, within('o'))) {
    signal?.throwIfAborted();
    looked += 1;
    if (looked % 1_000 === 0) onProgress?.(looked);
    const keyName = keyOfObject(key, value);
    if (keyName !== undefined) count(keyName, (usage) => ({ ...usage, objects: usage.objects + 1 }));
  }
  onProgress?.(looked);
  return found;
}

/** Undefined for what no key of the key service encrypts. What is plain is not decoded. */
function keyOfObject(recordKey: Buffer, value: Buffer): string | undefined {
  const [, bucket = '', key = ''] = decodeKey(recordKey).map(String);
  if (hasHead(value) && !decodeHead(value, `object ${bucket}/${key}`).encrypted) return undefined;
  const { sealed } = decodeObject(value, bucket, key);
  return sealed === undefined || sealed.scheme === 'SSE-C' ? undefined : sealed.keyName;
}

interface RemoveKeyOptions {
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

/** What the store has to say about named keys, and what is done with what they encrypt. */
export interface KeyLifecycle {
  usage(): Promise<ReadonlyMap<string, KeyUsage>>;
  /** Rejects with `KeyInUse`. */
  remove(options: Omit<RemoveKeyOptions, 'records'>): Promise<KeyUsage | undefined>;
  /** Milliseconds until a key of this name may be made again. */
  untilMayReturn(keyName: string): Promise<number>;
  returned(keyName: string): Promise<void>;
  /** Rejects with `RotationUnderWay`. */
  mayRotate(): Promise<void>;
  /** Asks for a change of keys; the server that leads makes it. Rejects with `RotationUnderWay`. */
  rotate(asked: Pick<ResealState, 'from' | 'to' | 'version' | 'mode' | 'objectsPerSecond'>): Promise<ResealState>;
  /** The change under way, or the last one. */
  rotation(): Promise<ResealState | undefined>;
}

export class RotationUnderWay extends Error {
  override readonly name = 'RotationUnderWay';
}

export function createKeyLifecycle(
  records: RecordStore,
  { clock = Date.now, random = randomBytes }: { clock?: () => number; random?: (size: number) => Buffer } = {},
): KeyLifecycle {
  async function mayRotate(): Promise<void> {
    const known = await readResealState(records);
    if (known === undefined || known.finished !== undefined) return;
    const { from, to, looked, againAfter } = known;
    const what = from === to ? `its newest version` : to;
    const until =
      againAfter === undefined
        ? 'wait until that ended'
        : `what servers wrote meanwhile is looked at after ${new Date(againAfter).toISOString()}: wait until then`;
    throw new RotationUnderWay(`objects of ${from} are given ${what} now, ${looked} were looked at: ${until}`);
  }
  return {
    mayRotate,
    usage: () => keyUsage({ records }),
    remove: (options) => removeKey({ ...options, records }),
    untilMayReturn: (keyName) => untilKeyMayReturn(records, keyName, clock()),
    returned: (keyName) => keyReturned(records, keyName, clock(), random),
    async rotate(asked) {
      await mayRotate();
      const state = { ...asked, started: clock(), looked: 0, done: 0, failed: 0 };
      await writeResealState(records, state, random);
      return state;
    },
    rotation: () => readResealState(records),
  };
}
