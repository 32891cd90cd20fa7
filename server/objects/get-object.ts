import { S3Error } from '../../protocol/s3/s3-error.ts';
import { checkReadConditions } from './conditions.ts';
import type { Environment } from './environment.ts';
import { getObjectRecord } from './find-object.ts';
import type { ObjectInfo, ReadableObject, ReadConditions } from './object-layer.ts';
import { openBody } from './open-body.ts';
import { objectInfo } from './records/object-record.ts';

const ATTEMPTS = 10;

export async function headObject(
  environment: Environment,
  bucket: string,
  key: string,
  conditions?: ReadConditions,
): Promise<ObjectInfo> {
  const record = await getObjectRecord(environment, bucket, key);
  checkReadConditions(conditions, record);
  return objectInfo(bucket, key, record);
}

/** Two reads at most for a small object, unless it is replaced at this moment. */
export async function getObject(
  environment: Environment,
  bucket: string,
  key: string,
  conditions?: ReadConditions,
): Promise<ReadableObject> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const record = await getObjectRecord(environment, bucket, key);
    checkReadConditions(conditions, record);
    const open = await openBody(environment, bucket, key, record);
    if (open !== undefined) return { info: objectInfo(bucket, key, record), open };
  }
  throw new S3Error('SlowDown', `The object was replaced ${ATTEMPTS} times while it was read; try again.`);
}
