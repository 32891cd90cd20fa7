import { decodeRecord, encodeRecord, recordKeys } from '../../objects/records/record-format.ts';
import { commitOnce } from '../../store/commits.ts';
import { copyKey, deploymentKey, encodeDeployment } from '../../store/deployment.ts';
import type { RecordStore, Batch, Entry } from '../../store/record-store.ts';
import { randomBytes } from 'node:crypto';
import type { PartRecord } from '../../objects/records/upload-record.ts';
import type { BlobId, BlobStore } from '../../store/blob-store.ts';
import { decodeKey, within } from '../../store/keys.ts';
import { tierOf } from '../../store/tiered-id.ts';
import { copyBlob, type BlobCopy } from './copy-blob.ts';
import { plainRecords } from './copied-records.ts';
import type { Issue } from '../verify/issue.ts';
import { allObjectRecords, entries, namedPlace, type ObjectRecords, type Place } from '../verify/object-records.ts';
import { planObject } from '../verify/plan-object.ts';
import { mapStream } from '../../../platform/async/concurrency.ts';
import { objectRecordKey } from '../../objects/records/version-place.ts';

/** The progress of a copy. The target keeps it. */
interface CopyState {
  /** The deployment that is copied: a copy of another deployment is not continued. */
  readonly deploymentId: string;
  readonly phase: 'objects' | 'uploads' | 'records' | 'done';
  /** The last key of the phase that was copied, in hexadecimal. */
  readonly after?: string;
  readonly objects: number;
  readonly bytes: number;
}

export async function readCopyState(records: Pick<RecordStore, 'get'>): Promise<CopyState | undefined> {
  const entry = await records.get(copyKey);
  return entry && (decodeRecord(entry.value, 'the copy') as CopyState);
}

/**
 * Marks an empty target as that of a copy, before anything else is done: a server would take it for new otherwise, and one that started
 * on it would make it a deployment of its own.
 */
export async function beginCopy(
  records: RecordStore,
  deploymentId: string,
  random: (size: number) => Buffer,
): Promise<void> {
  if ((await readCopyState(records)) !== undefined) return;
  await commitOnce(
    records,
    { expect: [{ kind: 'absent', key: copyKey }], put: [putCopyState(fresh(deploymentId))] },
    random,
  );
}

function putCopyState(state: CopyState): { readonly key: Buffer; readonly value: Buffer } {
  return { key: copyKey, value: encodeRecord(state) };
}

/**
 * Ends a copy that was verified: the records name their deployment from now on, also where the source is a data folder of an older
 * server and did not. The blobs must carry the marker of the deployment already. Servers may start.
 */
export async function finishCopy(
  records: RecordStore,
  deploymentId: string,
  random: (size: number) => Buffer,
): Promise<void> {
  const known = (await records.get(deploymentKey)) !== undefined;
  const record = { key: deploymentKey, value: encodeDeployment({ deploymentId, marked: true }) };
  await commitOnce(records, { put: known ? [] : [record], delete: [copyKey] }, random);
}

interface CopyOptions {
  /** Must not change: its servers are stopped, or it is read-only. */
  readonly from: { readonly records: RecordStore; readonly blobs: BlobStore };
  readonly to: { readonly records: RecordStore; readonly blobs: BlobStore };
  readonly deploymentId: string;
  readonly concurrency?: number;
  /** The count of records in a commit. */
  readonly batch?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CopyProgress) => void;
  readonly random?: (size: number) => Buffer;
}

export interface CopyProgress {
  readonly objects: number;
  readonly bytes: number;
}

const CONCURRENCY = 8;
/**
 * The copy commits after this many records, this many bytes of records, or this many bytes of blobs, which it would otherwise copy
 * twice.
 */
const BATCH = { records: 500, bytes: 4 * 1024 * 1024, blobs: 64 * 1024 * 1024 } as const;

/**
 * Copies everything in the order of keys: blobs first, then the records that refer to them. The same commits keep the position in the
 * target, so that an interrupted copy continues where it was. Yields the damage at the source. The mark of an unfinished copy stays
 * until the caller has verified the target and calls `finishCopy`.
 */
export async function* copyStores(options: CopyOptions): AsyncGenerator<Issue, CopyProgress> {
  const { from, to, signal, concurrency = CONCURRENCY } = options;
  const copy = new Copy(options, (await readCopyState(to.records)) ?? fresh(options.deploymentId));
  await copy.keep();
  if (copy.state.phase === 'objects') {
    const after = copy.after && lastVersion(copy.after);
    for await (const { batch, issues, last } of mapStream(allObjectRecords(from.records, { after }), concurrency, (o) =>
      copy.object(o),
    )) {
      signal?.throwIfAborted();
      await copy.add(batch, last);
      yield* issues;
    }
    await copy.next('uploads');
  }
  if (copy.state.phase === 'uploads') {
    const range = within('u');
    const start = copy.after === undefined ? range.start : Buffer.concat([copy.after, Buffer.of(0)]);
    for await (const upload of entries(from.records, { ...range, start })) {
      signal?.throwIfAborted();
      yield* copy.upload(upload);
      await copy.add([upload], upload.key);
    }
    await copy.next('records');
  }
  if (copy.state.phase === 'records') {
    for await (const entry of plainRecords(from.records, copy.after)) {
      signal?.throwIfAborted();
      await copy.add([entry], entry.key);
    }
    await copy.next('done');
  }
  return copy.progress;
}

/** The position of the phase is the record key of the last version, under `o` or `v`. */
function lastVersion(position: Buffer): Place {
  const [, bucket, objectKey, order] = decodeKey(position);
  return { bucket: String(bucket), key: String(objectKey), ...(order && { order }) };
}

function fresh(deploymentId: string): CopyState {
  return { deploymentId, phase: 'objects', objects: 0, bytes: 0 };
}

type Put = NonNullable<Batch['put']>[number];

class Copy {
  state: CopyState;
  progress: CopyProgress;
  readonly #options: CopyOptions;
  readonly #blobs: BlobCopy;
  #put: Put[] = [];
  #bytes = 0;
  #objects = 0;
  #after: Buffer | undefined;

  constructor(options: CopyOptions, state: CopyState) {
    this.#options = options;
    this.state = state;
    this.progress = { objects: state.objects, bytes: state.bytes };
    this.#objects = state.objects;
    this.#after = this.after;
    this.#blobs = {
      from: options.from.blobs,
      to: options.to.blobs,
      signal: options.signal,
      passed: (bytes) => this.#progressed({ bytes: this.progress.bytes + bytes }),
    };
  }

  get after(): Buffer | undefined {
    return this.state.after === undefined ? undefined : Buffer.from(this.state.after, 'hex');
  }

  /** Copies the blobs of a version, and returns its records for the commit. */
  async object(records: ObjectRecords) {
    const { streams, issues } = planObject(records);
    const wrong: Issue[] = [...issues];
    const blobs: BlobId[] = [];
    for (const stream of streams) {
      if (stream.kind !== 'blob') continue;
      // A body in a tier stays there.
      const inTier = tierOf(stream.blob) !== undefined;
      const damage = inTier ? undefined : await copyBlob(this.#blobs, stream.blob, stream);
      blobs.push(stream.blob);
      if (damage) wrong.push(this.#issue({ ...namedPlace(records), blob: stream.blob }, damage));
    }
    const owners = await this.#options.from.records.getAll(
      blobs.flatMap((blob) => [recordKeys.owner(blob), recordKeys.blockSums(blob)]),
    );
    const all = [records.inline, records.manifest, ...owners, records.marker, records.object];
    return { batch: all.filter((entry) => entry !== undefined), issues: wrong, last: objectRecordKey(records) };
  }

  /** Copies the parts of an upload that is not complete, with their records. */
  async *upload(upload: Entry): AsyncGenerator<Issue> {
    const [, bucket = '', objectKey = '', uploadId = ''] = decodeKey(upload.key).map(String);
    for await (const entry of entries(this.#options.from.records, within('p', uploadId))) {
      const part = decodeRecord(entry.value, `a part of upload ${uploadId}`) as PartRecord;
      const damage = await copyBlob(this.#blobs, part.blob, part);
      if (damage) yield this.#issue({ bucket, key: objectKey, uploadId, blob: part.blob }, damage);
      const ofBlob = [recordKeys.owner(part.blob), recordKeys.blockSums(part.blob)];
      const found = await this.#options.from.records.getAll(ofBlob);
      await this.add([...found.filter((one) => one !== undefined), entry], undefined);
    }
  }

  /** Adds records for the target. `last` is the position at which the copy continues after their commit. */
  async add(batch: readonly Put[], last: Buffer | undefined): Promise<void> {
    for (const { key: recordKey, value } of batch) {
      this.#put.push({ key: recordKey, value });
      this.#bytes += value.length;
    }
    if (last !== undefined) {
      this.#after = last;
      if (this.state.phase === 'objects') {
        this.#objects += 1;
        this.#progressed({ objects: this.#objects });
      }
    }
    const { batch: max = BATCH.records } = this.#options;
    const blobs = this.progress.bytes - this.state.bytes;
    if (this.#put.length >= max || this.#bytes >= BATCH.bytes || blobs >= BATCH.blobs) await this.keep();
  }

  async next(phase: CopyState['phase']): Promise<void> {
    const { deploymentId } = this.state;
    this.state = { ...this.state, deploymentId, phase };
    this.#after = undefined;
    await this.keep();
  }

  /** Commits the gathered records and the position after them. */
  async keep(): Promise<void> {
    const { after: _, ...state } = this.state;
    const after = this.#after;
    this.state = {
      ...state,
      ...(after !== undefined && { after: after.toString('hex') }),
      objects: this.#objects,
      bytes: this.progress.bytes,
    };
    const { to, random = randomBytes } = this.#options;
    await commitOnce(to.records, { put: [...this.#put, putCopyState(this.state)] }, random);
    this.#put = [];
    this.#bytes = 0;
  }

  #progressed(progress: Partial<CopyProgress>): void {
    this.progress = { ...this.progress, ...progress };
    this.#options.onProgress?.(this.progress);
  }

  #issue(
    place: {
      readonly bucket: string;
      readonly key: string;
      readonly versionId?: string;
      readonly uploadId?: string;
      readonly blob: BlobId;
    },
    { kind, message }: { readonly kind: string; readonly message: string },
  ): Issue {
    return {
      kind: kind === 'missing' ? 'missing-body' : 'damaged-body',
      ...place,
      message: `blob ${place.blob} of ${place.bucket}/${place.key} ${message}`,
    };
  }
}
