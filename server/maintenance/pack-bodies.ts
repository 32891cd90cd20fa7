import { randomBytes } from 'node:crypto';
import type { Logger } from '../../platform/output/logger.ts';
import { cipherSize } from '../encryption/package-format.ts';
import { PACKED_LIMIT } from '../objects/bodies/store-blob.ts';
import type { BlobOwner } from '../objects/contract/objects.ts';
import { segmentCheck } from '../objects/garbage-collection/garbage-collection.ts';
import { decodeObject, isTiered, type ObjectRecord } from '../objects/records/object-record.ts';
import { decodeRecord, encodeRecord } from '../objects/records/record-format.ts';
import type { BlobId, BlobStore } from '../store/blob-store.ts';
import { commitOnce } from '../store/commits.ts';
import { key } from '../store/keys.ts';
import { type RecordStore } from '../store/record-store.ts';
import type { Pace } from './pace.ts';
import { type PassPosition, versionPass } from './rewrap/version-pass.ts';
import { namedPlace, type Place } from './verify/object-records.ts';
import { isStoreUnavailable } from '../store/store-error.ts';
import { ownerOf } from '../objects/records/blob-claims.ts';

/** The progress of moving bodies into segments. Times are milliseconds since 1970. */
interface PackState extends PassPosition {
  readonly started: number;
  /** The end of the last complete pass. */
  readonly finished?: number;
  /** Bodies. */
  readonly moved: number;
  readonly movedBytes: number;
  /** Bodies that could not be read, which stay where they are. */
  readonly failed: number;
}

interface PackOptions {
  /** The records as the lease holder sees them: its commits are fenced. */
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  /** Moves a body to a segment. Returns false where its object has another body by now. */
  readonly move: (blob: BlobId, owner: BlobOwner) => Promise<boolean>;
  /** Called with the bytes that were moved. */
  readonly paced?: (bytes: number, signal?: AbortSignal) => Promise<void> | void;
  /** Waits until more records may be read. */
  readonly reads?: Pace;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly signal?: AbortSignal;
  readonly clock?: () => number;
  readonly random?: (size: number) => Buffer;
}

/** Like those of all segments, this record is not copied to another store. */
const stateKey = key('segments', 'pack');
/** The interval in milliseconds at which the position is saved. */
const SAVE_INTERVAL = 5_000;
/** Milliseconds between passes: servers of an older version, and forms of unknown size, make files of their own. */
const AGAIN_AFTER = 24 * 3_600_000;

export async function readPackState(records: Pick<RecordStore, 'get'>): Promise<PackState | undefined> {
  const entry = await records.get(stateKey);
  return entry && (decodeRecord(entry.value, 'the packing of bodies') as PackState);
}

/**
 * Moves bodies that are files of their own, of older servers and of copied stores, into segments, from where the last round stopped. A
 * pass over all versions follows a day after the last one. Bodies of uploads in parts stay as they are.
 */
export async function packBodies(options: PackOptions): Promise<PackState | undefined> {
  const { records, blobs, reads, log, signal, clock = Date.now, random = randomBytes } = options;
  const before = await readPackState(records);
  if (blobs.segments === undefined) return before;
  if (before?.finished !== undefined && clock() - before.finished < AGAIN_AFTER) return before;
  const isNew = before === undefined || before.finished !== undefined;
  let state: PackState = isNew ? { started: clock(), moved: 0, movedBytes: 0, failed: 0 } : before;
  const save = () => commitOnce(records, { put: [{ key: stateKey, value: encodeRecord(state) }] }, random);
  const isInSegment = segmentCheck(blobs);
  let saved = clock();
  try {
    for await (const { entry, place, position } of versionPass(records, state, signal, reads)) {
      const packed = await packOne(options, entry.value, place, isInSegment);
      state = {
        ...state,
        ...position,
        moved: state.moved + (packed > 0 ? 1 : 0),
        movedBytes: state.movedBytes + Math.max(packed, 0),
        failed: state.failed + (packed < 0 ? 1 : 0),
      };
      if (clock() - saved < SAVE_INTERVAL) continue;
      saved = clock();
      await save();
    }
  } catch (error) {
    await save().catch(() => undefined);
    throw error;
  }
  const { after: _after, table: _table, ...done } = state;
  state = { ...done, finished: clock() };
  await save();
  const { moved, movedBytes, failed } = state;
  if (moved + failed > 0)
    log.info({ event: 'bodies-packed', moved, movedBytes, failed }, 'bodies were moved to segments');
  return state;
}

/** Returns the bytes that were moved, 0 where the body stays, and -1 where it cannot be moved. */
async function packOne(
  { move, paced, log, signal }: PackOptions,
  value: Buffer,
  place: Place,
  isInSegment: (blob: BlobId) => Promise<boolean>,
): Promise<number> {
  try {
    const record = decodeObject(value, place.bucket, place.key);
    const { body } = record;
    if (body.kind !== 'blob' || record.damage !== undefined || record.size > PACKED_LIMIT || isTiered(record)) return 0;
    if (await isInSegment(body.blob)) return 0;
    if (!(await move(body.blob, ownerOf(place.bucket, place.key, record)))) return 0;
    const bytes = storedBytes(record);
    await paced?.(bytes, signal);
    return bytes;
  } catch (error) {
    if (isStoreUnavailable(error) || signal?.aborted === true) throw error;
    log.warn({ event: 'body-not-moved', err: error, ...namedPlace(place) }, 'a body cannot be moved to a segment');
    return -1;
  }
}

function storedBytes({ size, sealed }: ObjectRecord): number {
  return sealed === undefined ? size : cipherSize(size);
}
