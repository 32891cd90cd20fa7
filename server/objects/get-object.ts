import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { CustomerKey } from '../encryption/customer-key.ts';
import { checkReadConditions } from './conditions.ts';
import { checkCustomerKey } from './customer-sealed.ts';
import { openDigests } from './digests.ts';
import type { Environment } from './environment.ts';
import { getObjectAndInline, getObjectRecord } from './find-object.ts';
import type { ObjectInfo, ReadableObject, ReadConditions } from './object-layer.ts';
import { openBody } from './open-body.ts';
import { objectInfo } from './records/object-record.ts';

const ATTEMPTS = 10;

export async function headObject(
  environment: Environment,
  bucket: string,
  key: string,
  conditions?: ReadConditions,
  customerKey?: CustomerKey,
): Promise<ObjectInfo> {
  const record = await getObjectRecord(environment, bucket, key);
  const objectKey = checkCustomerKey(record.sealed, { bucket, key, id: record.id }, customerKey);
  const opened = openDigests(environment, { bucket, id: record.id, part: 0 }, record, objectKey);
  const digests = opened instanceof Promise ? await opened : opened;
  checkReadConditions(conditions, { etag: digests.etag, modified: record.modified });
  return objectInfo(bucket, key, record, digests);
}

/** One read for a small object. Another is read again when it is replaced before its manifest is read. */
export async function getObject(
  environment: Environment,
  bucket: string,
  key: string,
  conditions?: ReadConditions,
  customerKey?: CustomerKey,
): Promise<ReadableObject> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const { record, inline } = await getObjectAndInline(environment, bucket, key);
    const objectKey = checkCustomerKey(record.sealed, { bucket, key, id: record.id }, customerKey);
    const found = openDigests(environment, { bucket, id: record.id, part: 0 }, record, objectKey);
    const digests = found instanceof Promise ? await found : found;
    checkReadConditions(conditions, { etag: digests.etag, modified: record.modified });
    const opened = await openBody(environment, { bucket, key, customerKey }, record, inline);
    if (opened !== undefined) return { info: objectInfo(bucket, key, record, digests), ...opened };
  }
  throw new S3Error('SlowDown', `The object was replaced ${ATTEMPTS} times while it was read; try again.`);
}
