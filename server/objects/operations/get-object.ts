import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectInfo, ReadableObject, ReadOptions } from '../contract/object-layer.ts';
import type { Entry } from '../../store/record-store.ts';
import type { ObjectContext } from '../context/context.ts';
import { ruledEvent } from '../records/object-event.ts';
import { reportAccess } from '../events/report-access.ts';
import { type BucketRecord, noSuchBucket, isObserved } from '../records/bucket-record.ts';
import { arePlain, decodeObject, type ObjectRecord, objectInfo } from '../records/object-record.ts';
import { recordKeys, type VersionOrder } from '../records/record-format.ts';
import { checkCustomerKey } from '../encryption/customer-keys.ts';
import { openDigests } from '../encryption/digests.ts';
import type { CustomerKey } from '../../encryption/object-key.ts';
import type { Digests } from '../records/stored-digests.ts';
import { openBody } from '../bodies/open-body.ts';
import type { Chunks } from '../../streams/chunks.ts';
import { readPartPage } from './part-page.ts';
import { shownExpiration } from '../lifecycle/evaluate.ts';
import { checkQuarantined, isDamage, settleDamage } from './damaged-reads.ts';
import { checkReadConditions } from '../versions/preconditions.ts';
import { refuseDamaged } from '../versions/refuse-damaged.ts';
import { checkIdentity, noSuchKey, readNamedVersion, shownVersionId } from '../versions/find-version.ts';

/** A version as a read finds it. */
interface Found {
  readonly record: ObjectRecord;
  /** The place of a noncurrent version. */
  readonly order: VersionOrder | undefined;
  /** The record of a small body. */
  readonly inline: Entry | undefined;
  /** The version ID that clients see; undefined in a bucket that never had versions. */
  readonly versionId: string | undefined;
  /** The expiration of the current version. */
  readonly expiration?: ObjectInfo['expiration'] | undefined;
  /** The bucket, where reads of it are observed. */
  readonly observed?: BucketRecord | undefined;
}

/** Reads the current version and its inline body at one moment, in one round trip. Throws `NoSuchKey` and `NoSuchBucket`. */
async function readCurrent(context: ObjectContext, bucket: string, key: string, withBody: boolean): Promise<Found> {
  const keys = [recordKeys.bucket(bucket), recordKeys.object(bucket, key)];
  if (withBody) keys.push(recordKeys.inline(bucket, key));
  const [bucketEntry, object, inline] = await context.records.getAll(keys);
  if (bucketEntry === undefined) throw noSuchBucket(bucket);
  const bucketRecord = context.buckets.decode(bucketEntry, bucket).record;
  const { versioning, lifecycle } = bucketRecord;
  const observed = isObserved(context, bucketRecord) ? bucketRecord : undefined;
  if (object === undefined) throw await noSuchKey(context, bucket, key, versioning !== undefined);
  const record = decodeObject(object.value, bucket, key);
  const versionId = versioning === undefined ? record.versionId : shownVersionId(record);
  if (lifecycle === undefined) return { record, order: undefined, inline, versionId, observed };
  const expiration = shownExpiration({ lifecycle }, context.lifecycleDayMs, key, record);
  return { record, order: undefined, inline, versionId, expiration, observed };
}

/** Throws as `readNamedVersion`. */
async function readVersion(context: ObjectContext, bucket: string, key: string, versionId: string): Promise<Found> {
  const { order, stored } = await readNamedVersion(context, bucket, key, versionId);
  const isInline = stored.record.body.kind === 'inline';
  const inline = isInline ? await context.records.get(recordKeys.inline(bucket, key, order)) : undefined;
  return { record: stored.record, order, inline, versionId };
}

const ATTEMPTS = 10;

async function headObject(
  context: ObjectContext,
  bucket: string,
  key: string,
  { conditions, customerKey, versionId, onlyId, parts, accept, access, by }: ReadOptions,
): Promise<ObjectInfo> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const found =
      versionId === undefined
        ? await readCurrent(context, bucket, key, false)
        : await readVersion(context, bucket, key, versionId);
    const { record, order } = found;
    if (onlyId !== undefined) checkIdentity(record, onlyId);
    const { digests, objectKey } =
      plainDigests(record, customerKey) ?? (await openSealed(context, { bucket, key }, record, customerKey));
    checkReadConditions(conditions, {
      etag: digests.etag,
      modified: record.modified,
      versionId: found.versionId,
      headers: record.headers,
    });
    const info = objectInfo({ bucket, key, versionId: found.versionId, expiration: found.expiration }, record, digests);
    const paged = await withPartPage(context, { bucket, key, order, parts, objectKey }, record, info);
    if (paged === undefined) continue;
    accept?.(paged);
    if (found.observed !== undefined) await reportRead(context, found, { bucket, key, access, by });
    return paged;
  }
  throw replacedTooOften();
}

/** Returns the info with the parts that are asked for. Undefined where the object was replaced meanwhile. */
async function withPartPage(
  context: ObjectContext,
  { parts, objectKey, ...place }: Place & Pick<ReadOptions, 'parts'> & Pick<OpenedDigests, 'objectKey'>,
  record: ObjectRecord,
  info: ObjectInfo,
): Promise<ObjectInfo | undefined> {
  if (parts === undefined || record.body.kind !== 'parts') return info;
  const partPage = await readPartPage(context, place, record, { ...parts, objectKey });
  return partPage && { ...info, partPage };
}

interface Place extends Pick<Found, 'order'> {
  readonly bucket: string;
  readonly key: string;
}

interface OpenedDigests {
  readonly digests: Digests;
  /** The object's own key, where the client sent the one that opens it. */
  readonly objectKey: Buffer | undefined;
}

/** Returns undefined where a digest is sealed, and where the request or the object has a customer key. */
function plainDigests(record: ObjectRecord, customerKey: CustomerKey | undefined): OpenedDigests | undefined {
  if (customerKey !== undefined || record.sealed !== undefined || !arePlain(record)) return undefined;
  return { digests: record, objectKey: undefined };
}

/** Throws as `checkCustomerKey` and `openDigests`. */
async function openSealed(
  context: ObjectContext,
  { bucket, key }: { readonly bucket: string; readonly key: string },
  record: ObjectRecord,
  customerKey: CustomerKey | undefined,
): Promise<OpenedDigests> {
  const { id, sealed } = record;
  const objectKey = checkCustomerKey(sealed, { bucket, key, id }, customerKey);
  return { digests: await openDigests(context, { bucket, id, part: 0 }, record, objectKey), objectKey };
}

/** Reports the read of a client. Reads of the server itself, such as that of a copy, have no `access`. */
async function reportRead(
  context: ObjectContext,
  { observed, record, versionId }: Found,
  { bucket, key, access, by }: { readonly bucket: string; readonly key: string } & Pick<ReadOptions, 'access' | 'by'>,
): Promise<void> {
  if (observed === undefined || access === undefined || record.damage !== undefined) return;
  const names = [`s3:ObjectAccessed:${access}`];
  await reportAccess(context, ruledEvent(context, { names, bucket, key, stored: observed, versionId, record, by }));
}

function replacedTooOften(): S3Error {
  return new S3Error('SlowDown', `The object was replaced ${ATTEMPTS} times while it was read; try again.`);
}

/** Opens an object for reading, with one read for a small one. An object that is replaced before its body is read is read again. */
async function getObject(
  context: ObjectContext,
  bucket: string,
  key: string,
  { conditions, customerKey, versionId, onlyId, parts, accept, access, by }: ReadOptions,
): Promise<ReadableObject> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const found =
      versionId === undefined
        ? await readCurrent(context, bucket, key, true)
        : await readVersion(context, bucket, key, versionId);
    const { record, order, inline } = found;
    if (onlyId !== undefined) checkIdentity(record, onlyId);
    const { digests, objectKey } =
      plainDigests(record, customerKey) ?? (await openSealed(context, { bucket, key }, record, customerKey));
    checkReadConditions(conditions, {
      etag: digests.etag,
      modified: record.modified,
      versionId: found.versionId,
      headers: record.headers,
    });
    const opened = await openBody(context, { bucket, key, order, customerKey }, record, inline);
    if (opened === undefined) continue;
    const info = objectInfo({ bucket, key, versionId: found.versionId, expiration: found.expiration }, record, digests);
    const paged = await withPartPage(context, { bucket, key, order, parts, objectKey }, record, info);
    if (paged === undefined) continue;
    accept?.(paged);
    if (found.observed !== undefined) await reportRead(context, found, { bucket, key, access, by });
    return { info: paged, ...opened };
  }
  throw replacedTooOften();
}

/** Returns the info of an object, but refuses a quarantined one: clients that check a backup by size and ETag would lose data. */
export async function headIntactObject(
  context: ObjectContext,
  bucket: string,
  key: string,
  options: ReadOptions = {},
): Promise<ObjectInfo> {
  const info = await headObject(context, bucket, key, options);
  refuseDamaged(info);
  return info;
}

/**
 * Opens an object, but refuses a quarantined one, and quarantines one that this read and another one find damaged. A missing blob does not quarantine
 * its object: an unmounted folder would quarantine everything.
 */
export async function getIntactObject(
  context: ObjectContext,
  bucket: string,
  key: string,
  options: ReadOptions = {},
): Promise<ReadableObject> {
  const { customerKey, versionId, onlyId } = options;
  const open = () => getObject(context, bucket, key, { customerKey, versionId, onlyId });
  const { info, read } = await getObject(context, bucket, key, options);
  if (info.damage !== undefined) void checkQuarantined(context, info, open);
  refuseDamaged(info);
  return {
    info,
    read(range) {
      const note = (error: unknown) => {
        if (isDamage(error)) void settleDamage(context, info, range, open, error);
      };
      try {
        const body = read(range);
        return Buffer.isBuffer(body) ? body : noting(body, note);
      } catch (error) {
        note(error);
        throw error;
      }
    },
  };
}

function noting(chunks: Chunks, note: (error: unknown) => void): Chunks {
  return {
    ownership: chunks.ownership,
    async next() {
      try {
        return await chunks.next();
      } catch (error) {
        note(error);
        throw error;
      }
    },
    close: () => chunks.close(),
  };
}
