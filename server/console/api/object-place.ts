import type { Request } from 'express';
import { checkObjectKey } from '../../../protocol/s3/names.ts';
import { bucketOf } from './bucket-routes.ts';
import { ConsoleError } from './console-error.ts';

export interface ObjectPlace {
  readonly bucket: string;
  readonly key: string;
  /** `bucket/key`, as policies name it. */
  readonly resource: string;
}

/**
 * The object that a request is about. Its key is a query parameter, because keys are no paths: `../x`, `.` and `a//b` are good
 * ones, and browsers would resolve them away.
 */
export function objectPlace(request: Request): ObjectPlace {
  const bucket = bucketOf(request);
  const { key } = request.query;
  if (typeof key !== 'string' || key === '') throw new ConsoleError('BadRequest', 'The key of the object is missing.');
  checkObjectKey(key);
  return { bucket, key, resource: `${bucket}/${key}` };
}
