import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { CustomerKey } from '../../encryption/object-key.ts';
import { checkReadConditions } from './conditions.ts';
import { checkCustomerKey } from '../encryption/customer-keys.ts';
import { openDigests } from '../encryption/digests.ts';
import type { ObjectContext } from '../context.ts';
import { getObjectAndInline, getObjectRecord } from './find-object.ts';
import type { ObjectInfo, ReadableObject, ReadConditions } from '../object-layer.ts';
import { openBody } from '../bodies/open-body.ts';
import { objectInfo } from '../records/object-record.ts';
import type { Pieces } from '../../../platform/pieces.ts';
import { quarantineRead } from './quarantine.ts';
import { StoredDataError } from '../stored-data-error.ts';
import { isDamagedBlob } from '../../store/blob-store.ts';

const ATTEMPTS = 10;

async function headObject(
  context: ObjectContext,
  bucket: string,
  key: string,
  conditions?: ReadConditions,
  customerKey?: CustomerKey,
): Promise<ObjectInfo> {
  const record = await getObjectRecord(context, bucket, key);
  const objectKey = checkCustomerKey(record.sealed, { bucket, key, id: record.id }, customerKey);
  const opened = openDigests(context, { bucket, id: record.id, part: 0 }, record, objectKey);
  const digests = opened instanceof Promise ? await opened : opened;
  checkReadConditions(conditions, { etag: digests.etag, modified: record.modified });
  return objectInfo(bucket, key, record, digests);
}

/** Opens an object for reading, with one read for a small one. An object that is replaced before its manifest is read is read again. */
async function getObject(
  context: ObjectContext,
  bucket: string,
  key: string,
  conditions?: ReadConditions,
  customerKey?: CustomerKey,
): Promise<ReadableObject> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const { record, inline } = await getObjectAndInline(context, bucket, key);
    const objectKey = checkCustomerKey(record.sealed, { bucket, key, id: record.id }, customerKey);
    const found = openDigests(context, { bucket, id: record.id, part: 0 }, record, objectKey);
    const digests = found instanceof Promise ? await found : found;
    checkReadConditions(conditions, { etag: digests.etag, modified: record.modified });
    const opened = await openBody(context, { bucket, key, customerKey }, record, inline);
    if (opened !== undefined) return { info: objectInfo(bucket, key, record, digests), ...opened };
  }
  throw new S3Error('SlowDown', `The object was replaced ${ATTEMPTS} times while it was read; try again.`);
}

/** Returns the info of an object, but refuses a quarantined one: clients that check a backup by size and ETag would lose data. */
export async function headIntactObject(
  context: ObjectContext,
  bucket: string,
  key: string,
  conditions?: ReadConditions,
  customerKey?: CustomerKey,
): Promise<ObjectInfo> {
  const info = await headObject(context, bucket, key, conditions, customerKey);
  refuseDamaged(info);
  return info;
}

/**
 * Opens an object, but refuses a quarantined one, and quarantines one that this read finds damaged. A missing blob does not quarantine
 * its object: an unmounted folder would quarantine everything.
 */
export async function getIntactObject(
  context: ObjectContext,
  bucket: string,
  key: string,
  conditions?: ReadConditions,
  customerKey?: CustomerKey,
): Promise<ReadableObject> {
  const { info, read } = await getObject(context, bucket, key, conditions, customerKey);
  refuseDamaged(info);
  const note = (error: unknown) => {
    if ((error instanceof StoredDataError && error.code === 'damaged-body') || isDamagedBlob(error))
      void mark(context, info, error);
  };
  return {
    info,
    read(range) {
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

function noting(pieces: Pieces, note: (error: unknown) => void): Pieces {
  return {
    tenure: pieces.tenure,
    async next() {
      try {
        return await pieces.next();
      } catch (error) {
        note(error);
        throw error;
      }
    },
    close: () => pieces.close(),
  };
}

function refuseDamaged({ bucket, key, damage }: ObjectInfo): void {
  if (damage === undefined) return;
  throw new S3Error(
    'InternalError',
    'The stored bytes of this object are damaged, and are not served. Upload it again, or restore it from a backup.',
    {
      cause: new Error(
        `object ${bucket}/${key} is quarantined since ${new Date(damage.found).toISOString()}: ${damage.what}`,
      ),
    },
  );
}

async function mark(context: ObjectContext, info: ObjectInfo, error: Error): Promise<void> {
  const { clock } = context;
  try {
    await quarantineRead(context, info, { found: clock(), what: error.message });
  } catch {
    // The read has failed with its own error. The next read or the scrub finds the damage again.
  }
}
