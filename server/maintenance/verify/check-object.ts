import { type KeySource } from '../../encryption/key-source.ts';
import { type BlockSums, matchesStored, BlockSumsHasher, coversSize } from '../../objects/checksums/block-sums.ts';
import type { BlobId, BlobStore } from '../../store/blob-store.ts';
import { tierOf } from '../../store/tiered-id.ts';
import type { RecordStore, Entry } from '../../store/record-store.ts';
import { type StoredStream, checkBlob, checkBlobSize, checkBytes, type Damage } from './check-stream.ts';
import type { OpenedObjectKey } from '../../encryption/object-key.ts';
import { recoverObjectKey } from '../../objects/encryption/object-keys.ts';
import { type ObjectRecord, type SealedKeys } from '../../objects/records/object-record.ts';
import { decodeBlockSums } from '../../objects/records/body-records.ts';
import { recordKeys, decodeRecord } from '../../objects/records/record-format.ts';
import type { PlainBlob } from '../../objects/bodies/block-sums-of.ts';
import type { Issue } from './issue.ts';
import { decodeVersionIndex } from '../../objects/records/record-format.ts';
import { indexKeyOf, orderOf } from '../../objects/records/version-place.ts';
import { namedPlace, type ObjectRecords, type Place, placeText, readObjectRecords } from './object-records.ts';
import { type ObjectStream, planObject } from './plan-object.ts';
import { isUnreadable } from '../../objects/records/damage.ts';
import { isStoreError } from '../../store/store-error.ts';
import { KeyServiceError } from '../../../platform/key-service/exchange.ts';

/** The context of a verification. */
export interface VerifyContext {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  /** With keys, encrypted bodies are decrypted; without, the checksum of their ciphertext is compared. */
  readonly keys: KeySource | undefined;
  /** Returns true where these streams are decrypted, for which the key service may be called. Otherwise their checksums suffice. */
  readonly opens: (streams: readonly StoredStream[]) => boolean;
  /** True where bodies in blobs are read. Inline bodies always are: their record is read anyway. */
  readonly bodies: boolean;
  /** Called with the count of bytes that were read, before more are read: a scrub limits its rate here. */
  readonly paced: (bytes: number) => Promise<void> | void;
  /** Saves the block sums of a plain blob that is whole. `wrong` describes the block sums that are replaced. */
  readonly keepSums?: (blob: BlobId, sums: BlockSums, wrong: string | undefined) => Promise<void>;
  readonly signal: AbortSignal | undefined;
}

/** An object that is replaced again and again must be whole, or clients would not replace it. */
const ATTEMPTS = 10;

export interface CheckedObject {
  readonly place: Place;
  readonly issues: readonly Issue[];
  /**
   * The record that the issues are about. It did not change while the object was checked. Absent where it cannot be read or is
   * missing.
   */
  readonly stored?: { readonly record: ObjectRecord; readonly entry: Entry };
}

/**
 * Checks one object. The records of a scan may be of two moments, and a blob disappears when its object is replaced. An issue is
 * therefore checked again, against records of one moment that do not change meanwhile.
 */
export async function checkObject(check: VerifyContext, scanned: ObjectRecords): Promise<CheckedObject> {
  const { bucket, key, order } = scanned;
  const place: Place = { bucket, key, ...(order && { order }) };
  let records = scanned;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    check.signal?.throwIfAborted();
    const { record, issues: fromRecords, streams } = planObject(records);
    const stored = record && records.object && { record, entry: records.object };
    const issues = [...fromRecords];
    if (record !== undefined) {
      issues.push(
        ...(await checkStreams(check, place, record, streams)),
        ...(await indexIssues(check, records, record)),
      );
    }
    if (issues.length === 0) return { place, issues, ...(stored && { stored }) };
    if (attempt > 0 && (await unchanged(check.records, records))) return { place, issues, ...(stored && { stored }) };
    records = await readObjectRecords(check.records, place);
    // The second look uses new connections: one wrong answer of another S3 is not damage.
    await check.blobs.renew?.();
  }
  return { place, issues: [] };
}

/** A version from elsewhere is found by its index record. */
async function indexIssues({ records }: VerifyContext, at: Place, record: ObjectRecord): Promise<readonly Issue[]> {
  const { bucket, key } = at;
  const indexKey = indexKeyOf(bucket, key, record);
  if (indexKey === undefined) return [];
  const entry = await records.get(indexKey);
  if (entry !== undefined && readIndex(entry.value)?.order === orderOf(record)) return [];
  const named = { ...at, versionId: record.versionId };
  const message = `${placeText(named)} is not found by its id ${record.versionId}: its index record is ${entry === undefined ? 'missing' : 'another'}`;
  return [
    { kind: 'inconsistent-versions', bucket, key, ...(record.versionId && { versionId: record.versionId }), message },
  ];
}

function readIndex(value: Buffer): { readonly order: string } | undefined {
  try {
    return decodeVersionIndex(value, 'a version');
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

async function unchanged(records: RecordStore, seen: ObjectRecords): Promise<boolean> {
  const now = await readObjectRecords(records, seen);
  return (['object', 'marker', 'current'] as const).every((name) => now[name]?.revision === seen[name]?.revision);
}

async function checkStreams(
  check: VerifyContext,
  at: Place,
  { id, sealed }: ObjectRecord,
  streams: readonly ObjectStream[],
): Promise<Issue[]> {
  const place = namedPlace(at);
  const opened = check.opens(streams) ? await objectKeyOf(check, place, id, sealed) : {};
  if ('kind' in opened) return [{ kind: 'damaged-body', ...place, message: opened.message }];
  const issues: Issue[] = [];
  for (const stream of streams) {
    if (stream.kind === 'inline') {
      const damage = checkBytes(stream.bytes, { ...stream, ...opened });
      if (damage) issues.push(issueOf(damage, place, `the body of ${placeText(at)}`));
    } else {
      issues.push(...(await checkBlobStream(check, { ...place, owner: id }, { ...stream, ...opened })));
    }
  }
  return issues;
}

/** Returns the key of an encrypted object where it is available. Throws `KeyServiceError` while the key service is away. */
export async function objectKeyOf(
  { keys }: VerifyContext,
  place: Place,
  id: string,
  sealed: SealedKeys | undefined,
): Promise<{ readonly objectKey?: OpenedObjectKey } | Damage> {
  // Only the client can decrypt an object under its own key (SSE-C): the checksum of the ciphertext suffices.
  if (sealed === undefined || sealed.scheme === 'SSE-C' || keys === undefined) return {};
  try {
    return { objectKey: await recoverObjectKey({ keys }, sealed, { ...place, id }) };
  } catch (error) {
    if (isStoreError(error, 'ciphertext-damaged')) return { kind: 'damaged', message: error.message };
    // A key that was deleted or forbidden says nothing about the bytes: their checksum does.
    if (error instanceof KeyServiceError && error.code !== 'unavailable') return {};
    throw error;
  }
}

/** The object or part of a blob, as issues name it. */
interface NamedUser {
  readonly bucket: string;
  readonly key: string;
  /** The id of a noncurrent version. */
  readonly versionId?: string;
  readonly uploadId?: string;
}

interface BlobUser extends NamedUser {
  /** The id that the owner record of the blob must have. */
  readonly owner: string;
}

export async function checkBlobStream(
  check: VerifyContext,
  { owner, ...place }: BlobUser,
  stream: Extract<ObjectStream, { kind: 'blob' }>,
): Promise<Issue[]> {
  const { blob } = stream;
  const version = place.versionId === undefined ? '' : `version ${place.versionId} of `;
  const what = `blob ${blob} of ${version}${place.bucket}/${place.key}`;
  const issues: Issue[] = [];
  const unowned = await ownerError(check.records, blob, owner);
  if (unowned !== undefined) issues.push({ kind: 'unowned-blob', ...place, blob, message: `${what} ${unowned}` });
  const { protection } = stream;
  const plain = 'salt' in protection || 'sums' in protection ? undefined : { blob, size: stream.size, protection };
  const recorded = plain && (await readBlockSums(check, plain));
  // A server with another block size may have written the block sums of an older body.
  const block = plain && 'block' in plain.protection ? plain.protection.block : recorded?.sums?.block;
  // Bodies in tiers are not read: that costs traffic, and each read compares its blocks.
  const inTier = tierOf(blob) !== undefined;
  const sums = plain && check.bodies && !inTier ? new BlockSumsHasher(block) : undefined;
  const damage = inTier ? undefined : await damageOfBlob(check, stream, sums);
  if (damage !== undefined) return [...issues, issueOf(damage, { ...place, blob }, what)];
  const wrong = recorded && (await checkBlockSums(check, blob, recorded, sums?.digest()));
  if (wrong === undefined) return issues;
  return [...issues, { kind: 'block-sums', ...place, blob, message: `the block sums of ${what} ${wrong}` }];
}

function damageOfBlob(
  { blobs, bodies, paced }: VerifyContext,
  stream: Extract<ObjectStream, { kind: 'blob' }>,
  sums: BlockSumsHasher | undefined,
): Promise<Damage | undefined> {
  return bodies ? checkBlob(blobs, stream.blob, stream, paced, sums) : checkBlobSize(blobs, stream.blob, stream);
}

/** The record `c` of a blob. */
interface RecordedBlockSums {
  /** Undefined where the block sums cannot be read, or are missing. */
  readonly sums?: BlockSums;
  /** The error of the record itself. */
  readonly wrong?: string;
}

async function readBlockSums(
  { records }: VerifyContext,
  { blob, size, protection }: PlainBlob,
): Promise<RecordedBlockSums> {
  const entry = await records.get(recordKeys.blockSums(blob));
  // A body of an older server gets its block sums from its first reader, or from the scrub.
  if (entry === undefined) return 'block' in protection ? { wrong: 'are missing' } : {};
  try {
    const sums = decodeBlockSums(entry.value, blob);
    const isRight = coversSize(sums, size) && (!('block' in protection) || matchesStored(sums, protection));
    return isRight ? { sums } : { wrong: 'are those of other bytes' };
  } catch (error) {
    if (isUnreadable(error)) return { wrong: `cannot be read: ${error.message}` };
    throw error;
  }
}

/** Compares the block sums of a whole blob, and saves the computed ones where the context has `keepSums`. */
async function checkBlockSums(
  { keepSums }: VerifyContext,
  blob: BlobId,
  { sums, wrong }: RecordedBlockSums,
  computed: BlockSums | undefined,
): Promise<string | undefined> {
  if (computed === undefined) return wrong;
  if (sums?.sums.equals(computed.sums) === true) return undefined;
  const difference = sums === undefined ? wrong : 'are those of other bytes';
  await keepSums?.(blob, computed, difference);
  return difference;
}

async function ownerError(records: RecordStore, blob: BlobId, id: string): Promise<string | undefined> {
  const [owner, removal] = await records.getAll([recordKeys.owner(blob), recordKeys.removal(blob)]);
  if (removal !== undefined) return 'is queued for removal';
  if (owner === undefined) return 'has no owner record, so that garbage collection would remove it';
  try {
    const { object } = decodeRecord(owner.value, `the owner of blob ${blob}`) as { object?: unknown };
    return object === id ? undefined : `belongs to ${String(object)} by its owner record, and not to ${id}`;
  } catch (error) {
    if (isUnreadable(error)) return `has an owner record that cannot be read: ${error.message}`;
    throw error;
  }
}

function issueOf({ kind, message }: Damage, place: NamedUser & { readonly blob?: BlobId }, what: string): Issue {
  const found = { ...place, message: `${what} ${message}` };
  return { kind: `${kind}-body`, ...found };
}
