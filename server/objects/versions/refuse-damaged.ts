import type { ObjectInfo } from '../contract/object-layer.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';

export function refuseDamaged({ bucket, key, damage }: Pick<ObjectInfo, 'bucket' | 'key' | 'damage'>): void {
  if (damage === undefined) return;
  throw new S3Error(
    'InternalError',
    'The stored bytes of this object are damaged, and are not served. They are checked again after each GET. If they stay damaged, restore the object from a backup, or upload it again.',
    {
      cause: new Error(
        `object ${bucket}/${key} is quarantined since ${new Date(damage.found).toISOString()}: ${damage.what}`,
      ),
    },
  );
}
