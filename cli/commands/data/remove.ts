import type { DeleteFailure } from '../../../protocol/s3/responses.ts';
import type { S3Client } from '../../s3/client.ts';
import { deleteObjects, deleteObject, headObject } from '../../s3/objects.ts';
import { CliError } from '../../config/cli-error.ts';
import type { Context } from '../context.ts';
import { allObjects, listUploads } from '../../s3/list-objects.ts';
import { abortUpload } from '../../s3/multipart-upload.ts';
import { isNotFound, S3ResponseError } from '../../s3/s3-response-error.ts';
import { printable } from '../../terminal/format.ts';
import { displayName, parseObject, parseRemote, type RemoteTarget } from '../../config/target.ts';

const batchSize = 1_000;

/** Deletes keys in batches of a thousand, and calls `done` for each key, with its failure if it has one. */
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

interface RemoveOptions {
  readonly recursive?: boolean;
  readonly force?: boolean;
  readonly incomplete?: boolean;
}

export async function remove(context: Context, arguments_: readonly string[], options: RemoveOptions): Promise<void> {
  if (options.recursive === true && options.force !== true) {
    throw new CliError('BadArgument', 'Removing recursively needs --force as well, since it cannot be undone');
  }
  let failed = 0;
  for (const argument of arguments_) {
    try {
      failed += await removeOne(context, argument, options);
    } catch (error) {
      context.signal.throwIfAborted();
      failed += 1;
      context.output.error(error, 'error', `Unable to remove \`${printable(argument)}\``);
    }
  }
  if (failed > 0) throw new CliError('Reported', `${failed} objects were not removed`);
}

/** Returns the number of objects that could not be removed. */
async function removeOne(context: Context, argument: string, options: RemoveOptions): Promise<number> {
  const aliases = await context.aliases();
  if (options.recursive === true) {
    const target = parseRemote(argument, aliases);
    if (target.bucket === '') throw new CliError('BadArgument', `Invalid target \`${argument}\`: name a bucket`);
    const client = await context.client(target.alias);
    return options.incomplete === true ? removeUploads(context, client, target) : removeAll(context, client, target);
  }
  const target = parseObject(argument, aliases);
  const client = await context.client(target.alias);
  if (options.incomplete === true) return removeUploads(context, client, target);
  const there = await exists(client, target);
  if (there === false && options.force !== true) {
    throw new CliError('NotFound', `Object \`${target.text}\` does not exist`);
  }
  if (there === false) {
    context.output.warn(`Object \`${printable(target.text)}\` does not exist: nothing was removed`);
    return 0;
  }
  await deleteObject(client, target.bucket, target.key);
  removed(context, target, target.key);
  return 0;
}

/** S3 gives the same answer for a missing object. Undefined where the caller lacks the permission to know. */
async function exists(client: S3Client, { bucket, key }: RemoteTarget): Promise<boolean | undefined> {
  try {
    await headObject(client, bucket, key);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    if (error instanceof S3ResponseError && error.status === 403) return undefined;
    throw error;
  }
}

async function removeAll(context: Context, client: S3Client, target: RemoteTarget): Promise<number> {
  let failed = 0;
  await deleteInBatches(
    client,
    target.bucket,
    named(allObjects(client, target.bucket, target.key), target.key),
    async (key, failure) => {
      if (failure === undefined) {
        removed(context, target, key);
        await context.output.drained();
        return;
      }
      failed += 1;
      const cause = `${failure.message} (${failure.code})`;
      context.output.error(
        new CliError('BadArgument', `Unable to remove \`${printable(displayName(target, key))}\``, { cause }),
        'error',
      );
    },
  );
  return failed;
}

async function removeUploads(context: Context, client: S3Client, target: RemoteTarget): Promise<number> {
  const uploads = listUploads(client, { bucket: target.bucket, prefix: target.key, recursive: true });
  for await (const { key, uploadId } of named(uploads, target.key)) {
    await abortUpload(client, { bucket: target.bucket, key, uploadId });
    removed(context, target, key);
  }
  return 0;
}

/** A name without a slash means the object and the folder of this name: `logs` must not match `logs-of-others`. */
async function* named<T extends { readonly key: string }>(found: AsyncIterable<T>, name: string): AsyncGenerator<T> {
  const isPrefix = name === '' || name.endsWith('/');
  for await (const one of found) {
    if (isPrefix || one.key === name || one.key.startsWith(`${name}/`)) yield one;
  }
}

function removed({ output }: Context, target: RemoteTarget, key: string): void {
  const name = displayName(target, key);
  output.message(`Removed \`${printable(name)}\`.`, { key: name, deleteMarker: false, versionID: '' });
}
