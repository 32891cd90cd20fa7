import { mapStream } from '../../../platform/async/concurrency.ts';
import type { DeletedObject, DeleteFailure } from '../../../protocol/s3/responses.ts';
import type { S3Client } from '../../s3/client.ts';
import { deleteObjects, type DeleteOptions } from '../../s3/objects.ts';
import type { Entry } from './entries/entry.ts';

/** The limit of S3 for one request. */
const batchSize = 1_000;

/** Concurrent requests. The listing continues meanwhile. */
const parallel = 3;

/** An entry with what the server did with it. */
export type Removal = { readonly entry: Entry } & (
  { readonly deleted: DeletedObject } | { readonly failure: DeleteFailure }
);

/** Deletes objects and versions in batches, and yields the result of each in their order. */
export async function* deleteInBatches(
  client: S3Client,
  entries: AsyncIterable<Entry>,
  options: DeleteOptions = {},
): AsyncGenerator<Removal, void, undefined> {
  const results = mapStream(batchesOf(entries), parallel, async (batch) => deleteBatch(client, batch, options));
  for await (const batch of results) yield* batch;
}

/** All entries of a batch are in one bucket. */
async function* batchesOf(entries: AsyncIterable<Entry>): AsyncGenerator<readonly Entry[], void, undefined> {
  let batch: Entry[] = [];
  for await (const entry of entries) {
    if (batch.length === batchSize || (batch[0] !== undefined && batch[0].bucket !== entry.bucket)) {
      yield batch;
      batch = [];
    }
    batch.push(entry);
  }
  if (batch.length > 0) yield batch;
}

async function deleteBatch(
  client: S3Client,
  batch: readonly Entry[],
  options: DeleteOptions,
): Promise<readonly Removal[]> {
  const objects = batch.map(({ key, version }) => ({ key, versionId: version?.id }));
  const { deleted, failures } = await deleteObjects(client, batch[0]?.bucket ?? '', objects, options);
  const deletedByName = new Map(deleted.map((one) => [nameOf(one.key, one.versionId), one]));
  const failed = new Map(failures.map((one) => [nameOf(one.key, one.versionId), one]));
  return batch.map((entry) => {
    const name = nameOf(entry.key, entry.version?.id);
    const failure = failed.get(name);
    if (failure !== undefined) return { entry, failure };
    const object = deletedByName.get(name);
    if (object !== undefined) return { entry, deleted: object };
    // An object that the answer does not name may still be there.
    const message = 'The server did not say that it deleted the object';
    return { entry, failure: { key: entry.key, code: 'InternalError', message } };
  });
}

/** The null version has no id in some answers: in those of MinIO for the object of a folder. */
function nameOf(key: string, versionId: string | undefined): string {
  return JSON.stringify([key, versionId === 'null' ? '' : (versionId ?? '')]);
}
