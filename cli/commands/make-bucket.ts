import type { Context } from '../context.ts';
import { createBucket } from '../s3/buckets.ts';
import { S3ResponseError } from '../s3/s3-response-error.ts';
import { parseBucket } from '../target.ts';

export async function makeBucket(
  context: Context,
  argument: string,
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
