import type { Context } from '../context.ts';
import { createBucket, deleteBucket } from '../../s3/buckets.ts';
import { S3ResponseError } from '../../s3/s3-response-error.ts';
import { parseBucket } from '../../config/target.ts';
import { CliError } from '../../config/cli-error.ts';
import { allObjects, listUploads } from '../../s3/list-objects.ts';
import { abortUpload } from '../../s3/multipart-upload.ts';
import { deleteInBatches } from './remove.ts';

export async function makeBucket(
  context: Context,
  [argument = '']: readonly string[],
  options: { readonly region?: string; readonly ignoreExisting?: boolean },
): Promise<void> {
  const { alias, aliasName, bucket } = parseBucket(argument.replace(/\/+$/, ''), await context.aliases());
  try {
    await createBucket(await context.client(alias), bucket, options.region);
  } catch (error) {
    const exists = error instanceof S3ResponseError && error.code === 'BucketAlreadyOwnedByYou';
    if (!exists || options.ignoreExisting !== true) throw error;
  }
  const name = `${aliasName}/${bucket}`;
  context.output.message(`Bucket created successfully \`${name}\`.`, {
    bucket: name,
    region: options.region ?? 'us-east-1',
  });
}

/** Removes a bucket; with `force` the client removes its objects first. */
export async function removeBucket(
  context: Context,
  [argument = '']: readonly string[],
  options: { readonly force?: boolean },
): Promise<void> {
  const { alias, aliasName, bucket } = parseBucket(argument.replace(/\/+$/, ''), await context.aliases());
  const client = await context.client(alias);
  const name = `${aliasName}/${bucket}`;
  if (options.force === true) {
    await deleteInBatches(client, bucket, allObjects(client, bucket, ''), async (_, failure) => {
      if (failure !== undefined)
        throw new CliError('BadArgument', `Unable to remove \`${name}/${failure.key}\``, { cause: failure.message });
    });
    for await (const { key, uploadId } of listUploads(client, { bucket, prefix: '', recursive: true })) {
      await abortUpload(client, { bucket, key, uploadId });
    }
  }
  try {
    await deleteBucket(client, bucket);
  } catch (error) {
    if (!(error instanceof S3ResponseError) || error.code !== 'BucketNotEmpty') throw error;
    throw new CliError(
      'BadArgument',
      `Bucket \`${name}\` is not empty: use --force to remove it with all that is in it`,
      {
        cause: error,
      },
    );
  }
  context.output.message(`Removed \`${name}\` successfully.`, { bucket: name });
}
