import { ResponseError } from '../../../../protocol/response-error.ts';
import type { Alias } from '../../../config/aliases.ts';
import { getObjectLock } from '../../../s3/bucket-settings.ts';
import type { S3Client } from '../../../s3/client.ts';

/** Knows which buckets may hold locked objects. It asks once for each bucket, so that copies from other buckets need no further request. */
export class LockedBuckets {
  readonly #answers = new Map<string, Promise<boolean>>();

  /** Resolves with false for a bucket without object lock: its objects have no locks. */
  async mayHaveLocks(client: S3Client, { url, accessKey }: Alias, bucket: string): Promise<boolean> {
    const name = `${url} ${accessKey} ${bucket}`;
    const known = this.#answers.get(name) ?? hasObjectLock(client, bucket);
    this.#answers.set(name, known);
    return known;
  }
}

async function hasObjectLock(client: S3Client, bucket: string): Promise<boolean> {
  try {
    return (await getObjectLock(client, bucket)) !== undefined;
  } catch (error) {
    // A caller who may not read the setting may still see the locks of objects. The copy itself reports other failures.
    return error instanceof ResponseError && error.status === 403;
  }
}
