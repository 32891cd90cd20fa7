import { isDeepStrictEqual } from 'node:util';
import { crc32 } from 'node:zlib';
import { newTieredId } from '../../store/tiered-id.ts';
import type { BlobId } from '../../store/blob-store.ts';
import { commitOnce } from '../../store/commits.ts';
import type { Batch } from '../../store/record-store.ts';
import type { ObjectContext } from '../context/context.ts';
import type { ExpiringVersion, TransitionObject } from '../contract/object-layer.ts';
import { reportAccess } from '../events/report-access.ts';
import { ruledEvent, unlessCurrent } from '../records/object-event.ts';
import { commitChange } from '../commit/commit-change.ts';
import { encodeManifest } from '../records/body-records.ts';
import { getBucket, isObserved } from '../records/bucket-record.ts';
import { type Body, encodeObject, isTiered, type ObjectRecord } from '../records/object-record.ts';
import { encodeBody, encodeRecord, recordKeys, type VersionOrder } from '../records/record-format.ts';
import { copyStream, storedStreams, type StoredStreams } from './stored-streams.ts';
import { ownerOf, ownerRecord, queueRemoval } from '../records/blob-claims.ts';
import { objectRecordKey } from '../records/version-place.ts';
import { blobsOfObject } from '../versions/remove-object.ts';
import type { Tier } from '../contract/tiers.ts';
import { findVersion, type FoundVersion, shownVersionId } from '../versions/find-version.ts';

const DAY_MS = 24 * 3_600_000;
/** Milliseconds after which the bytes that an interrupted move has left in its tier are removed. */
const LEFTOVER_MS = 7 * DAY_MS;
/** Milliseconds that a move may take: it must not meet the removal of its bytes. */
const MAX_MOVE_MS = 6 * DAY_MS;

/**
 * Moves the body of a version to a tier: its stored bytes, so that encryption, checksums and parts stay what they are. Returns false where
 * there is nothing to move, or `isDue` refuses what is there. The bytes are queued for removal from the tier before they are written, and
 * the commit of the move takes them off the queue: an interrupted move leaves nothing behind. A lock does not hinder a move.
 */
export function transitionObject(context: ObjectContext, request: TransitionObject): Promise<boolean> {
  // The walk of a bucket and the queue of new objects may find a version at the same time.
  const running = movesOf(context);
  const name = JSON.stringify([request.bucket, request.key, request.versionId]);
  const begun = running.get(name);
  if (begun !== undefined) return begun;
  const move = moveBody(context, request).finally(() => running.delete(name));
  running.set(name, move);
  return move;
}

/** The moves in progress, by version. */
const moves = new WeakMap<ObjectContext, Map<string, Promise<boolean>>>();

function movesOf(context: ObjectContext): Map<string, Promise<boolean>> {
  const known = moves.get(context) ?? new Map<string, Promise<boolean>>();
  moves.set(context, known);
  return known;
}

async function moveBody(context: ObjectContext, request: TransitionObject): Promise<boolean> {
  const { bucket, key } = request;
  const found = await movable(context, request);
  const tier = found && (await context.tiers.find(request.tier));
  if (found === undefined || tier === undefined) return false;
  const { record } = found.stored;
  const streams = await storedStreams(context, { bucket, key, order: found.order }, record);
  if (streams === undefined) return false;
  const blobs = streams.streams.map(() => newTieredId(tier.number, bucket, context.random));
  const began = context.clock();
  await queueLeftovers(context, blobs, began + LEFTOVER_MS);
  let sums: Put;
  try {
    sums = await copyStreams(context, streams, blobs, `${bucket}/${key}`);
  } catch (error) {
    await queueLeftovers(context, blobs, context.clock()).catch(() => undefined);
    await reportFailure(context, request, record, found.order).catch(() => undefined);
    throw error;
  }
  // If the outcome of the commit stays unknown, the queue is left as it is: the commit took the bytes off it, or they go later.
  if (await commitMove(context, request, { was: record, tier, streams, blobs, sums, began })) return true;
  await queueLeftovers(context, blobs, context.clock());
  return false;
}

/** Returns the version if it is there and due. Nothing is gained by moving an empty body. */
async function movable(context: ObjectContext, request: TransitionObject): Promise<FoundVersion | undefined> {
  const { bucket, key, versionId, isDue } = request;
  const found = await findVersion(context, bucket, key, versionId);
  if (found === undefined) return undefined;
  const { record } = found.stored;
  const stays = record.deleteMarker === true || record.damage !== undefined || record.size === 0 || isTiered(record);
  return stays || !isDue(factsOf(found)) ? undefined : found;
}

function factsOf({ at, stored: { record } }: FoundVersion): ExpiringVersion {
  return { place: at, isLone: false, size: record.size, modified: record.modified, tags: record.tags ?? {} };
}

/** Queues blobs for removal from their tier at a time, if nothing takes them off the queue before. */
async function queueLeftovers(context: ObjectContext, blobs: readonly BlobId[], queued: number): Promise<void> {
  const value = encodeRecord({ queued });
  await commitOnce(
    context.records,
    { put: blobs.map((blob) => ({ key: recordKeys.removal(blob), value })) },
    context.random,
  );
}

type Put = NonNullable<Batch['put']>;

/** Writes the bytes of each stream to its blob. Returns the records of their block sums. */
async function copyStreams(
  context: ObjectContext,
  { streams }: StoredStreams,
  blobs: readonly BlobId[],
  what: string,
): Promise<Put> {
  const sums: Put[number][] = [];
  for (const [index, stream] of streams.entries()) {
    const blob = blobs[index];
    if (blob === undefined) continue;
    sums.push(...(await copyStream(context, stream, blob, what)));
  }
  return sums;
}

interface Moved {
  readonly was: ObjectRecord;
  readonly tier: Tier;
  readonly streams: StoredStreams;
  readonly blobs: readonly BlobId[];
  readonly sums: Put;
  readonly began: number;
}

/** Gives the version its new body. Its tags and its lock may have changed meanwhile, and its place. */
function commitMove(context: ObjectContext, request: TransitionObject, moved: Moved): Promise<boolean> {
  const { bucket, key } = request;
  const { was, tier, streams, blobs, sums, began } = moved;
  return commitChange(context, async () => {
    const found = await movable(context, request);
    if (found?.stored.record.id !== was.id || !isDeepStrictEqual(found.stored.record.body, was.body)) {
      return { result: false };
    }
    const { order, stored } = found;
    const place = { bucket, key, order };
    const leftovers = await context.records.getAll(blobs.map((blob) => recordKeys.removal(blob)));
    const isLate = context.clock() - began > MAX_MOVE_MS;
    if (isLate || leftovers.some((entry) => entry === undefined)) return { result: false };
    const { body, manifest } = bodyInTier(was.body, streams, blobs);
    const record: ObjectRecord = {
      ...stored.record,
      headers: { ...stored.record.headers, storageClass: tier.name },
      body,
    };
    const recordKey = objectRecordKey(place);
    const owner = ownerOf(bucket, key, record);
    const removed = queueRemoval(await blobsOfObject(context, place, stored.record), context.clock());
    const bucketRecord = (await getBucket(context.records, bucket)).record;
    return {
      batch: {
        expect: [
          { kind: 'revision', key: recordKey, revision: stored.revision },
          ...leftovers.flatMap((entry) =>
            entry === undefined ? [] : [{ kind: 'revision' as const, key: entry.key, revision: entry.revision }],
          ),
        ],
        put: [
          { key: recordKey, value: encodeObject(record) },
          ...blobs.map((blob) => ownerRecord(blob, owner)),
          ...sums,
          ...(manifest === undefined
            ? []
            : [{ key: recordKeys.manifest(bucket, key, order), value: encodeBody(was.id, manifest) }]),
          ...removed.put,
        ],
        delete: [
          ...blobs.map((blob) => recordKeys.removal(blob)),
          ...(was.body.kind === 'inline' ? [recordKeys.inline(bucket, key, order)] : []),
          ...removed.delete,
        ],
        freesSpace: true,
      },
      result: true,
      event: isObserved(context, bucketRecord)
        ? ruledEvent(context, {
            names: ['s3:LifecycleTransition', 's3:ObjectTransition:Complete'],
            bucket,
            key,
            stored: bucketRecord,
            versionId: shownVersionId(record),
            record,
            ...unlessCurrent(order),
          })
        : undefined,
    };
  });
}

function bodyInTier(
  was: Body,
  { streams, parts }: StoredStreams,
  blobs: readonly BlobId[],
): { readonly body: Body; readonly manifest?: Buffer } {
  const [first] = streams;
  const [blob] = blobs;
  if (parts === undefined && first !== undefined && blob !== undefined) {
    // The protection may be a body, which has a kind and a blob of its own.
    return { body: { ...first.protection, kind: 'blob', blob } };
  }
  const manifest = encodeManifest((parts ?? []).map((part, index) => ({ ...part, blob: blobs[index] ?? part.blob })));
  const count = was.kind === 'parts' ? was.count : blobs.length;
  return { body: { kind: 'parts', count, crc: crc32(manifest), tiered: true }, manifest };
}

async function reportFailure(
  context: ObjectContext,
  request: TransitionObject,
  record: ObjectRecord,
  order: VersionOrder | undefined,
): Promise<void> {
  const { bucket, key, versionId } = request;
  const stored = (await getBucket(context.records, bucket)).record;
  if (!isObserved(context, stored)) return;
  const names = ['s3:ObjectTransition:Failed'];
  await reportAccess(
    context,
    ruledEvent(context, { names, bucket, key, stored, versionId, record, ...unlessCurrent(order) }),
  );
}
