import { isPacked } from '../../store/packed-id.ts';
import type { BlobId } from '../../store/blob-store.ts';
import type { ObjectContext } from '../context.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { StoredBlob } from '../bodies/incoming-body.ts';
import type { BlobOwner } from '../contract/objects.ts';
import { type Body, type ObjectRecord, type StoredObject } from '../records/object-record.ts';
import { encodeBlockSums, decodeManifest, type ManifestPart } from '../records/body-records.ts';
import { decodeBody, encodeRecord, recordKeys, type VersionOrder } from '../records/record-format.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { commitOnce } from '../../store/commits.ts';
import type { Batch, Key } from '../../store/record-store.ts';
import type { EventHub, RuledEvent } from '../events/object-event.ts';
import { withEvent } from '../events/outbox.ts';
import { isUnreadable } from '../damage.ts';
import { withRestored } from '../tiers/restored-copy.ts';
import { backoffMs } from '../../../platform/backoff.ts';
import { isStoreError, StoreError } from '../../store/store-error.ts';

/** Makes an id of 32 hexadecimal characters that sorts by time: 6 bytes of milliseconds since 1970, then 10 random ones. */
export function newId(now: number, random: (size: number) => Buffer): string {
  return now.toString(16).padStart(12, '0') + random(10).toString('hex');
}

export function newBlobId(now: number, random: (size: number) => Buffer): BlobId {
  return newId(now, random) as BlobId;
}

/**
 * Removes a blob that nothing refers to. A body in a segment is queued for removal, which counts it as garbage: nothing else would know of
 * it before its segment is sealed.
 */
export async function discardBlob(context: ObjectContext, blob: BlobId): Promise<void> {
  try {
    if (isPacked(blob)) {
      const { put } = queueRemoval([blob], context.clock());
      await commitOnce(context.records, { put, freesSpace: true }, context.random);
    } else {
      await context.blobs.remove(blob);
    }
  } catch {
    // The request has failed already with another error. Garbage collection finds the blob, since it has no owner.
  }
}

export function ownerOf(bucket: string, key: string, { id, versionId }: ObjectRecord): BlobOwner {
  return { object: id, bucket, key, versionId };
}

export function ownerRecord(blob: BlobId, owner: BlobOwner): BatchChanges['put'][number] {
  return { key: recordKeys.owner(blob), value: encodeRecord(isPacked(blob) ? owner : { object: owner.object }) };
}

/**
 * Returns the part of a commit that makes an object the owner of a written blob. Garbage collection abandons blobs without an owner
 * after a grace period, with a tombstone: then the commit fails instead of referring to a blob that is gone.
 */
export async function claimBlob(
  context: ObjectContext,
  { blob, recordedSums }: StoredBlob,
  owner: BlobOwner,
): Promise<Pick<BatchChanges, 'expect' | 'put'>> {
  const tombstone = recordKeys.tombstone(blob);
  if ((await context.records.get(tombstone)) !== undefined) {
    throw new S3Error('RequestTimeout', 'The upload took longer than unfinished uploads are kept; start it again.');
  }
  return {
    expect: [{ kind: 'absent', key: tombstone }],
    put: [
      ownerRecord(blob, owner),
      ...(recordedSums ? [{ key: recordKeys.blockSums(blob), value: encodeBlockSums(recordedSums) }] : []),
    ],
  };
}

/** The result of an attempt: a batch that is valid if nothing changed meanwhile, or nothing to do. */
export interface Change<T> {
  readonly batch?: Omit<Batch, 'id'>;
  readonly result: T;
  /** Present where it is observed: the commit queues it, and the listeners get it after the commit. A rename has two. */
  readonly event?: RuledEvent | readonly RuledEvent[] | undefined;
}

/** With 12, one of 500 changes of the tags of one object by six clients in four threads gave up. */
const ATTEMPTS = 30;

/** Queues the events of one attempt. What full queues do not take is counted after the commit: an attempt that conflicts is made again. */
export class AttemptEvents implements EventHub {
  readonly #hub: EventHub;
  #dropped: string[] | undefined;

  constructor(hub: EventHub) {
    this.#hub = hub;
  }

  get isHeard(): boolean {
    return this.#hub.isHeard;
  }

  hear(event: RuledEvent): void {
    this.#hub.hear(event);
  }

  isFull(target: string): boolean {
    return this.#hub.isFull(target);
  }

  countDropped(target: string): void {
    (this.#dropped ??= []).push(target);
  }

  onCommitted(): void {
    for (const target of this.#dropped ?? []) this.#hub.countDropped(target);
  }
}

/**
 * Reads, decides and commits; after a conflict it starts again from the new state. `plan` throws the S3Error of a refusal; what it queues, it
 * queues with the `events` of its attempt. A lost acknowledgement is settled before a retry, so that an operation never takes its own commit
 * for another writer's. Throws `SlowDown` after a bounded number of conflicts.
 */
export async function commitChange<T>(context: ObjectContext, plan: Plan<T>): Promise<T> {
  let unlock: (() => void) | undefined;
  try {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const outcome = await attemptOnce(context, plan);
      if (outcome.kind === 'done') return outcome.result;
      if (outcome.key !== undefined && unlock === undefined) {
        // Many writers of one key would conflict again and again: from the second attempt on, the writers of this thread wait for each
        // other.
        unlock = await context.writeMutexes.acquire(outcome.key.toString('latin1'));
      } else {
        // A random delay keeps writers from conflicting again.
        await sleep(backoffMs(attempt, { firstMs: 2, maxMs: 100, jitter: 1 }, () => (context.random(1)[0] ?? 0) / 255));
      }
    }
  } finally {
    unlock?.();
  }
  throw new S3Error('SlowDown', `${ATTEMPTS} attempts met other changes of the same object; try again.`);
}

/** `key` is the record key that another writer changed, where it is known. */
type Attempt<T> =
  { readonly kind: 'done'; readonly result: T } | { readonly kind: 'conflict'; readonly key: Buffer | undefined };

type Plan<T> = (events: EventHub) => Promise<Change<T>>;

async function attemptOnce<T>(context: ObjectContext, plan: Plan<T>): Promise<Attempt<T>> {
  const attempt = new AttemptEvents(context.events);
  let change;
  try {
    change = await plan(attempt);
  } catch (error) {
    if (isStoreError(error, 'changed')) return { kind: 'conflict', key: undefined };
    throw error;
  }
  const { batch, result, event } = change;
  if (batch === undefined) return { kind: 'done', result };
  const events = event === undefined ? undefined : [event].flat();
  const { random } = context;
  const whole =
    events === undefined ? batch : events.reduce((all, one) => withEvent({ events: attempt, random }, all, one), batch);
  const outcome = await commitOnce(context.records, whole, random);
  if (outcome.kind !== 'committed') return outcome;
  attempt.onCommitted();
  for (const one of events ?? []) context.events.hear(one);
  return { kind: 'done', result };
}

/** A batch under construction. */
export type BatchChanges = { readonly [Member in 'expect' | 'put' | 'delete']: NonNullable<Batch[Member]> };

/** The place of the records of a version. `order` is absent for the current version. */
export interface VersionPlace {
  readonly bucket: string;
  readonly key: string;
  readonly order?: VersionOrder | undefined;
}

/** Returns the key of the record of an object at a place. */
export function objectRecordKey({ bucket, key, order }: VersionPlace): Key {
  return order === undefined ? recordKeys.object(bucket, key) : recordKeys.version(bucket, key, order);
}

/**
 * Returns the changes that remove an object's record, body and blobs in the commit that replaces or deletes it. `by` is the kind of the
 * new body at the same place: its records are overwritten instead of deleted.
 */
export async function removeObject(
  context: ObjectContext,
  place: VersionPlace,
  current: StoredObject | undefined,
  by: Body['kind'] | undefined,
): Promise<BatchChanges> {
  const objectKey = objectRecordKey(place);
  if (current === undefined) return { expect: [{ kind: 'absent', key: objectKey }], put: [], delete: [] };
  const { bucket, key, order } = place;
  const { body, damage } = current.record;
  const removed: Key[] = by === undefined ? [objectKey] : [];
  if (body.kind === 'inline' && by !== 'inline') removed.push(recordKeys.inline(bucket, key, order));
  if (body.kind === 'parts' && by !== 'parts') removed.push(recordKeys.manifest(bucket, key, order));
  const blobs = body.kind === 'inline' ? [] : await blobsOfObject(context, place, current.record);
  if (damage !== undefined) removed.push(recordKeys.damage(bucket, key, order));
  const { put, delete: owners } = queueRemoval(blobs, context.clock());
  return {
    expect: [{ kind: 'revision', key: objectKey, revision: current.revision }],
    put,
    delete: [...removed, ...owners],
  };
}

/** Returns the blobs of the body of an object, with those of its restored copy. */
export async function blobsOfObject(
  context: ObjectContext,
  place: VersionPlace,
  record: ObjectRecord,
): Promise<readonly BlobId[]> {
  if (record.body.kind === 'blob') return withRestored(record, [record.body.blob]);
  return record.body.kind === 'parts' ? withRestored(record, await blobsOfManifest(context, place, record)) : [];
}

/**
 * Returns the blobs of a manifest. A damaged object can be replaced and deleted although its manifest cannot be read any more: `verify`
 * finds the blobs that it leaves.
 */
async function blobsOfManifest(
  context: ObjectContext,
  place: VersionPlace,
  record: ObjectRecord,
): Promise<readonly BlobId[]> {
  try {
    const parts = await readManifest(context, place, record);
    if (parts !== undefined) return parts.map((part) => part.blob);
  } catch (error) {
    if (record.damage === undefined || !isUnreadable(error)) throw error;
  }
  if (record.damage === undefined) throw new StoreError('changed', 'the records changed meanwhile');
  return [];
}

/** Queues blobs for removal. Nothing may refer to them after the same commit. */
export function queueRemoval(blobs: readonly BlobId[], now: number): Pick<BatchChanges, 'put' | 'delete'> {
  const value = encodeRecord({ queued: now });
  return {
    put: blobs.map((blob) => ({ key: recordKeys.removal(blob), value })),
    delete: blobs.map((blob) => recordKeys.owner(blob)),
  };
}

/** Returns undefined when the manifest belongs to another object: the object was replaced since its record was read. */
export async function readManifest(
  context: Pick<ObjectContext, 'records'>,
  { bucket, key, order }: VersionPlace,
  { id, body }: ObjectRecord,
): Promise<readonly ManifestPart[] | undefined> {
  const entry = await context.records.get(recordKeys.manifest(bucket, key, order));
  const bytes = entry && decodeBody(entry.value, id);
  return bytes && decodeManifest(bytes, body.kind === 'parts' ? body.crc : undefined);
}
