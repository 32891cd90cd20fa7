import { isStoreError, isStoreUnavailable } from '../../store/store-error.ts';
import { contextText, type DataKey, type KeySource } from '../../encryption/key-source.ts';
import { ExpiringCache } from '../../encryption/expiring-cache.ts';
import { dataKeyLimits } from '../../encryption/key-service-keys.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectLayer } from '../../objects/contract/object-layer.ts';
import { type Place, entries, namedPlace } from '../verify/object-records.ts';
import { versionPass } from './version-pass.ts';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../platform/output/logger.ts';
import { decodeHead, hasHead, decodeObject } from '../../objects/records/object-record.ts';
import { decodeKey, within } from '../../store/keys.ts';
import { type Entry, type RecordStore } from '../../store/record-store.ts';
import { pace } from '../pace.ts';
import { type RewrapState, readRewrapState, writeRewrapState } from './rewrap-state.ts';
import { hasOldKey, rewrapBucket, rewrapObject, rewrapUpload, type RewrapKeys } from './rewrap-records.ts';

/**
 * Returns a key source without cached data keys: this thread may still have data keys of the previous version. New data keys serve as
 * many objects as usual.
 */
function withoutCachedDataKeys(keys: KeySource, clock: () => number): KeySource {
  const generated = new ExpiringCache<DataKey>(dataKeyLimits, clock);
  return {
    ...keys,
    generate: async (keyName, context, options) =>
      generated.get(`${keyName} ${contextText(context)}`, keyName, () =>
        keys.generate(keyName, context, { ...options, once: true }),
      ),
  };
}

/** Encrypts the body of a version again under a new key. Returns false where the version was replaced or deleted. */
async function rewriteObject(
  objects: Pick<ObjectLayer, 'rewriteBody'>,
  place: Place,
  keyName: string,
): Promise<boolean> {
  try {
    const { bucket, key, versionId } = namedPlace(place);
    return await objects.rewriteBody({ bucket, key, versionId, keyName });
  } catch (error) {
    if (error instanceof S3Error && (error.code === 'NoSuchKey' || error.code === 'NoSuchVersion')) return false;
    throw error;
  }
}

interface RewrapOptions {
  /** The records as the lease holder sees them: its commits are fenced. */
  readonly records: RecordStore;
  readonly keys: KeySource;
  /** Encrypts bodies again. */
  readonly objects: Pick<ObjectLayer, 'rewriteBody'>;
  readonly log: Logger;
  readonly signal?: AbortSignal;
  readonly clock?: () => number;
  readonly random?: (size: number) => Buffer;
}

/** The interval in milliseconds at which the position is saved. After a stop, this much is done again without harm. */
const SAVE_INTERVAL = 5_000;
/** The delay in milliseconds before an object is tried again while the key service is away, and the count of such attempts. */
const RETRY_DELAY = 5_000;
const MAX_RETRIES = 60;

/** The time in milliseconds for which servers may still have data keys of the previous version, with a margin for their clocks. */
const DATA_KEY_LIFETIME = dataKeyLimits.lifetimeMs + 60_000;

/**
 * Continues the rotation until all objects have the new key; returns at once where none was asked for. A server that stops or loses the
 * lease leaves the rest to the next round. The default keys of buckets change first, so that new objects get the new key. After a
 * rotation to a new version of the same key, a second pass some minutes later finds the objects that were written with cached data keys
 * of the previous version.
 */
export async function rewrapRound(options: RewrapOptions): Promise<RewrapState | undefined> {
  const { records, random = randomBytes, clock = Date.now, log } = options;
  const asked = await readRewrapState(records);
  if (asked === undefined || asked.finished !== undefined) return asked;
  if (asked.againAfter !== undefined && clock() < asked.againAfter) return asked;
  const job = new Rewrap(options, asked);
  try {
    await job.buckets();
    await job.uploads();
    await job.objects();
  } finally {
    await writeRewrapState(records, job.state, random).catch(() => undefined);
  }
  const { after: _after, table: _table, againAfter, ...done } = job.state;
  if (done.version !== undefined && againAfter === undefined) {
    const state = { ...done, againAfter: done.started + DATA_KEY_LIFETIME };
    await writeRewrapState(records, state, random);
    return state;
  }
  const finished = { ...done, finished: clock() };
  await writeRewrapState(records, finished, random);
  const { from, to, mode, failed } = finished;
  log.info({ event: 'keys-changed', from, to, mode, done: finished.done, failed }, `objects of ${from} have ${to} now`);
  return finished;
}

class Rewrap {
  state: RewrapState;
  readonly #options: RewrapOptions;
  readonly #rewrapKeys: RewrapKeys;
  readonly #clock: () => number;
  readonly #wait: (objects: number) => Promise<void>;
  #saved: number;

  constructor(options: RewrapOptions, state: RewrapState) {
    const { records, keys, random = randomBytes, clock = Date.now } = options;
    this.state = state;
    this.#options = options;
    this.#clock = clock;
    const { from, to, version } = state;
    this.#rewrapKeys = {
      records,
      keys: withoutCachedDataKeys(keys, clock),
      random,
      clock,
      keyUses: new Map(),
      from,
      to,
      ...(version !== undefined && { version }),
    };
    this.#wait = pace(state.objectsPerSecond, { signal: options.signal });
    this.#saved = clock();
  }

  async buckets(): Promise<void> {
    for await (const entry of entries(this.#options.records, within('b'))) await rewrapBucket(this.#rewrapKeys, entry);
  }

  /** Each round visits all uploads: those with the new key are skipped. */
  async uploads(): Promise<void> {
    for await (const entry of entries(this.#options.records, within('u'))) {
      this.#options.signal?.throwIfAborted();
      const [, bucket = '', name = ''] = decodeKey(entry.key).map(String);
      await this.#change({ bucket, key: name }, () => rewrapUpload(this.#rewrapKeys, entry));
    }
  }

  async objects(): Promise<void> {
    const { records, signal } = this.#options;
    for await (const { entry, place, position } of versionPass(records, this.state, signal)) {
      if (this.#concerns(entry, place)) await this.#change(place, () => this.#changeObject(place));
      const looked = this.state.looked + (position.table === 'again' ? 0 : 1);
      this.state = { ...this.state, ...position, looked };
      await this.#save();
    }
  }

  #concerns(entry: Entry, { bucket, key: name }: Place): boolean {
    if (hasHead(entry.value) && !decodeHead(entry.value, `object ${bucket}/${name}`).encrypted) return false;
    const { sealed } = decodeObject(entry.value, bucket, name);
    return hasOldKey(this.#rewrapKeys, sealed);
  }

  #changeObject(place: Place): Promise<boolean> {
    return this.state.mode === 'rewrite'
      ? rewriteObject(this.#options.objects, place, this.state.to)
      : rewrapObject(this.#rewrapKeys, place);
  }

  /** Counts and logs an object that fails, and continues with the others. Waits while the key service is away. */
  async #change(place: Place, change: () => Promise<boolean>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      this.#options.signal?.throwIfAborted();
      try {
        if (!(await change())) return;
        this.state = { ...this.state, done: this.state.done + 1 };
        return await this.#wait(1);
      } catch (error) {
        if (isOfTheRound(error)) throw error;
        if (mayPass(error) && attempt < MAX_RETRIES) {
          await sleep(RETRY_DELAY, undefined, this.#options.signal && { signal: this.#options.signal });
          continue;
        }
        const message = error instanceof Error ? error.message : String(error);
        this.state = {
          ...this.state,
          failed: this.state.failed + 1,
          failure: this.state.failure ?? { ...namedPlace(place), message },
        };
        this.#options.log.error({ err: error, ...namedPlace(place) }, 'the key of an object could not be changed');
        return;
      }
    }
  }

  async #save(): Promise<void> {
    const now = this.#clock();
    if (now - this.#saved < SAVE_INTERVAL) return;
    this.#saved = now;
    await writeRewrapState(this.#options.records, this.state, this.#options.random ?? randomBytes);
  }
}

/** The store is away, or another server has the lease: another round continues. */
function isOfTheRound(error: unknown): boolean {
  return isStoreUnavailable(error) || isStoreError(error, 'lease-lost');
}

function mayPass(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'unavailable' || code === 'ServiceUnavailable' || code === 'SlowDown';
}
