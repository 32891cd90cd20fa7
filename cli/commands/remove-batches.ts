import type { DeleteFailure } from '../../protocol/s3/read-answers.ts';
import type { S3Client } from '../s3/client.ts';
import { deleteObjects } from '../s3/delete-objects.ts';

const batchSize = 1_000;

/** Deletes keys by a thousand at once; `done` hears of each key, with its failure if it has one. */
export async function deleteInBatches(
  client: S3Client,
  bucket: string,
  objects: AsyncIterable<{ readonly key: string }>,
  done: (key: string, failure: DeleteFailure | undefined) => Promise<void>,
): Promise<void> {
  let batch: string[] = [];
  const flush = async (): Promise<void> => {
    const keys = batch;
    batch = [];
    if (keys.length === 0) return;
    const failures = new Map((await deleteObjects(client, bucket, keys)).map((failure) => [failure.key, failure]));
    for (const key of keys) await done(key, failures.get(key));
  };
  for await (const { key } of objects) {
    batch.push(key);
    if (batch.length === batchSize) await flush();
  }
  await flush();
}
