import { DamagedCiphertext } from '../encryption/packages.ts';
import { KeySourceError } from '../encryption/key-source.ts';
import type { OpenedObjectKey } from '../encryption/opened-object-key.ts';
import { recoverObjectKey } from '../objects/object-keys.ts';
import type { ObjectRecord, SealedKeys } from '../objects/records/object-record.ts';
import { recordKeys } from '../objects/records/record-keys.ts';
import { type BlockSums, BlockSumsInProgress } from '../objects/checksums/block-sums.ts';
import { encodeBlockSums } from '../objects/records/block-sums-record.ts';
import { shownKey } from './shown-key.ts';
import { decodeRecord, UnreadableRecord } from '../objects/records/record-format.ts';
import type { BlobId } from '../store/blob-store.ts';
import type { Entry, RecordStore } from '../store/record-store.ts';
import type { Check } from './check.ts';
import { checkBlob, checkBlobSize, checkBytes, type Damage } from './check-stream.ts';
import type { Finding } from './finding.ts';
import { type ObjectRecords, type Place, readObjectRecords } from './object-records.ts';
import { type ObjectStream, planObject } from './plan-object.ts';

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
export async function checkObject(check: Check, scanned: ObjectRecords): Promise<CheckedObject> {
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
  check: Check,
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
  { keys }: Check,
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

export interface BlobUser extends Place {
  /** The id that the blob's owner record must have. */
  readonly owner: string;
  readonly uploadId?: string;
}

export async function checkBlobStream(
  check: Check,
  { owner, ...place }: BlobUser,
  stream: Extract<ObjectStream, { kind: 'blob' }>,
): Promise<Finding[]> {
  const { blob } = stream;
  const what = `blob ${blob} of ${place.bucket}/${place.key}`;
  const findings: Finding[] = [];
  const unowned = await whyUnowned(check.records, blob, owner);
  if (unowned !== undefined) findings.push({ kind: 'unowned-blob', ...place, blob, message: `${what} ${unowned}` });
  if (!check.bodies) {
    const damage = await checkBlobSize(check.blobs, blob, stream);
    return damage === undefined ? findings : [...findings, findingOf(damage, { ...place, blob }, what)];
  }
  const { protection } = stream;
  const recorded = 'salt' in protection || 'sums' in protection ? undefined : protection;
  const sums = recorded && new BlockSumsInProgress('block' in recorded ? recorded.block : undefined);
  const damage = await checkBlob(check.blobs, blob, stream, check.paced, sums);
  if (damage !== undefined) findings.push(findingOf(damage, { ...place, blob }, what));
  else if (sums !== undefined) findings.push(...(await checkBlockSums(check, blob, sums.digest())));
  return findings;
}

/** The record `c` of a blob that is whole. Without it, the next reader computes the sums. */
async function checkBlockSums({ records, keepSums }: Check, blob: BlobId, sums: BlockSums): Promise<Finding[]> {
  const key = recordKeys.blockSums(blob);
  const found = await records.get(key);
  if (found !== undefined && found.value.equals(encodeBlockSums(sums))) return [];
  await keepSums?.(blob, sums);
  if (found === undefined) return [];
  return [{ kind: 'stray-record', record: shownKey(key), message: `these are not the block sums of blob ${blob}` }];
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
