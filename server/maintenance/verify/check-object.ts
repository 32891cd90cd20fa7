import { type KeySource, KeySourceError } from '../../encryption/key-source.ts';
import { type BlockSums, areStored, BlockSumsInProgress, coverSize } from '../../objects/checksums/block-sums.ts';
import type { BlobId, BlobStore } from '../../store/blob-store.ts';
import type { RecordStore, Entry } from '../../store/record-store.ts';
import { type StoredStream, checkBlob, checkBlobSize, checkBytes, type Damage } from './check-stream.ts';
import { DamagedCiphertext } from '../../encryption/packages.ts';
import type { OpenedObjectKey } from '../../encryption/object-key.ts';
import { recoverObjectKey } from '../../objects/encryption/object-keys.ts';
import type { ObjectRecord, SealedKeys } from '../../objects/records/object-record.ts';
import { recordKeys } from '../../objects/records/record-keys.ts';
import type { PlainBlob } from '../../objects/bodies/block-sums-of.ts';
import { decodeBlockSums } from '../../objects/records/body-record.ts';
import { decodeRecord, UnreadableRecord } from '../../objects/records/record-format.ts';
import type { Finding } from './finding.ts';
import { type ObjectRecords, type Place, readObjectRecords } from './object-records.ts';
import { type ObjectStream, planObject } from './plan-object.ts';

/** What every part of a verification works with. */
export interface VerifyContext {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  /** Where it is given, encrypted bodies are opened; else they are held against the checksum of their ciphertext. */
  readonly keys: KeySource | undefined;
  /** Whether these are opened, for which the key service may be asked; where not, their checksums say enough. */
  readonly opens: (streams: readonly StoredStream[]) => boolean;
  /** Whether bodies in blobs are read. Inline ones always are: their record is read anyway. */
  readonly bodies: boolean;
  /** Told of bytes that were read, before more are asked for: here a scrub waits for its turn. */
  readonly paced: (bytes: number) => Promise<void> | void;
  /** Keeps the block sums of a plain blob that was found whole; `wrong` says what those were that are replaced. */
  readonly keepSums?: (blob: BlobId, sums: BlockSums, wrong: string | undefined) => Promise<void>;
  readonly signal: AbortSignal | undefined;
}

/** An object that is replaced again and again is whole each time, or nobody would replace it. */
const ATTEMPTS = 10;

export interface CheckedObject {
  readonly place: Place;
  readonly findings: readonly Finding[];
  /** The record that the findings are about, unchanged after them. Absent where it cannot be read or is not there. */
  readonly stored?: { readonly record: ObjectRecord; readonly entry: Entry };
}

/**
 * Looks at one object. What the scans found side by side may be of two moments, and a blob may go because its object was replaced: so
 * whatever seems wrong is looked at again, in records of one moment that are still the same afterwards.
 */
export async function checkObject(check: VerifyContext, scanned: ObjectRecords): Promise<CheckedObject> {
  const { bucket, key } = scanned;
  const place = { bucket, key };
  let records = scanned;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    check.signal?.throwIfAborted();
    const { record, findings: fromRecords, streams } = planObject(records);
    const stored = record && records.object && { record, entry: records.object };
    const findings = [
      ...fromRecords,
      ...(record === undefined ? [] : await checkStreams(check, place, record, streams)),
    ];
    if (findings.length === 0) return { place, findings, ...(stored && { stored }) };
    if (attempt > 0 && (await unchanged(check.records, records))) return { place, findings, ...(stored && { stored }) };
    records = await readObjectRecords(check.records, place);
  }
  return { place, findings: [] };
}

async function unchanged(records: RecordStore, { bucket, key, object }: ObjectRecords): Promise<boolean> {
  return (await records.get(recordKeys.object(bucket, key)))?.revision === object?.revision;
}

async function checkStreams(
  check: VerifyContext,
  place: Place,
  { id, sealed }: ObjectRecord,
  streams: readonly ObjectStream[],
): Promise<Finding[]> {
  const opened = check.opens(streams) ? await objectKeyOf(check, place, id, sealed) : {};
  if ('kind' in opened) return [{ kind: 'damaged-body', ...place, message: opened.message }];
  const findings: Finding[] = [];
  for (const stream of streams) {
    if (stream.kind === 'inline') {
      const damage = checkBytes(stream.bytes, { ...stream, ...opened });
      if (damage) findings.push(findingOf(damage, place, `the body of ${place.bucket}/${place.key}`));
    } else {
      findings.push(...(await checkBlobStream(check, { ...place, owner: id }, { ...stream, ...opened })));
    }
  }
  return findings;
}

/** The key of an encrypted object where it can be had. Throws `KeySourceError` while the key service cannot be asked. */
export async function objectKeyOf(
  { keys }: VerifyContext,
  place: Place,
  id: string,
  sealed: SealedKeys | undefined,
): Promise<{ readonly objectKey?: OpenedObjectKey } | Damage> {
  // Nobody but the client can open what was put with its key: the checksum of the ciphertext says enough.
  if (sealed === undefined || sealed.scheme === 'SSE-C' || keys === undefined) return {};
  try {
    return { objectKey: await recoverObjectKey({ keys }, sealed, { ...place, id }) };
  } catch (error) {
    if (error instanceof DamagedCiphertext) return { kind: 'damaged', message: error.message };
    // A key that was deleted or forbidden says nothing about the bytes: their checksum does.
    if (error instanceof KeySourceError && error.code !== 'unavailable') return {};
    throw error;
  }
}

interface BlobUser extends Place {
  /** The id that the blob's owner record must have. */
  readonly owner: string;
  readonly uploadId?: string;
}

export async function checkBlobStream(
  check: VerifyContext,
  { owner, ...place }: BlobUser,
  stream: Extract<ObjectStream, { kind: 'blob' }>,
): Promise<Finding[]> {
  const { blob } = stream;
  const what = `blob ${blob} of ${place.bucket}/${place.key}`;
  const findings: Finding[] = [];
  const unowned = await whyUnowned(check.records, blob, owner);
  if (unowned !== undefined) findings.push({ kind: 'unowned-blob', ...place, blob, message: `${what} ${unowned}` });
  const { protection } = stream;
  const plain = 'salt' in protection || 'sums' in protection ? undefined : { blob, size: stream.size, protection };
  const recorded = plain && (await readBlockSums(check, plain));
  // A server of another block size may have kept the sums of an older body.
  const block = plain && 'block' in plain.protection ? plain.protection.block : recorded?.sums?.block;
  const sums = plain && check.bodies ? new BlockSumsInProgress(block) : undefined;
  const damage = check.bodies
    ? await checkBlob(check.blobs, blob, stream, check.paced, sums)
    : await checkBlobSize(check.blobs, blob, stream);
  if (damage !== undefined) return [...findings, findingOf(damage, { ...place, blob }, what)];
  const wrong = recorded && (await checkBlockSums(check, blob, recorded, sums?.digest()));
  if (wrong === undefined) return findings;
  return [...findings, { kind: 'block-sums', ...place, blob, message: `the block sums of ${what} ${wrong}` }];
}

/** The record `c` of a blob. */
interface RecordedBlockSums {
  /** Undefined where they cannot be read, or are none. */
  readonly sums?: BlockSums;
  /** What is wrong with the record by itself. */
  readonly wrong?: string;
}

async function readBlockSums(
  { records }: VerifyContext,
  { blob, size, protection }: PlainBlob,
): Promise<RecordedBlockSums> {
  const entry = await records.get(recordKeys.blockSums(blob));
  // A body of an older server gets them from its first reader, or from the scrub.
  if (entry === undefined) return 'block' in protection ? { wrong: 'are missing' } : {};
  try {
    const sums = decodeBlockSums(entry.value, blob);
    const isRight = coverSize(sums, size) && (!('block' in protection) || areStored(sums, protection));
    return isRight ? { sums } : { wrong: 'are those of other bytes' };
  } catch (error) {
    if (error instanceof UnreadableRecord) return { wrong: `cannot be read: ${error.message}` };
    throw error;
  }
}

/** Of a blob that is whole, with its sums where it was read: then they are kept, where the check brings them forward. */
async function checkBlockSums(
  { keepSums }: VerifyContext,
  blob: BlobId,
  { sums, wrong }: RecordedBlockSums,
  computed: BlockSums | undefined,
): Promise<string | undefined> {
  if (computed === undefined) return wrong;
  if (sums?.sums.equals(computed.sums) === true) return undefined;
  const told = sums === undefined ? wrong : 'are those of other bytes';
  await keepSums?.(blob, computed, told);
  return told;
}

async function whyUnowned(records: RecordStore, blob: BlobId, id: string): Promise<string | undefined> {
  const [owner, removal] = await records.getAll([recordKeys.owner(blob), recordKeys.removal(blob)]);
  if (removal !== undefined) return 'is queued for removal';
  if (owner === undefined) return 'has no owner record, so that the sweeper would remove it';
  try {
    const { object } = decodeRecord(owner.value, `the owner of blob ${blob}`) as { object?: unknown };
    return object === id ? undefined : `belongs to ${String(object)} by its owner record, and not to ${id}`;
  } catch (error) {
    if (error instanceof UnreadableRecord) return `has an owner record that cannot be read: ${error.message}`;
    throw error;
  }
}

function findingOf(
  { kind, message }: Damage,
  place: Place & { readonly uploadId?: string; readonly blob?: BlobId },
  what: string,
): Finding {
  const found = { ...place, message: `${what} ${message}` };
  if (kind === 'missing') return { kind: 'missing-body', ...found };
  return { kind: 'damaged-body', ...found, ...(kind === 'unreadable' && { unreadable: true }) };
}
