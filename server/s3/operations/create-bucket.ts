import { parseCreateBucketConfiguration } from '../../../protocol/s3/create-bucket-configuration.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { possibleBucketOf } from '../address-style.ts';
import { emptyAnswer } from '../answers.ts';
import type { Operation, PolicyContext, S3Call } from '../operation.ts';
import { readDocument } from '../request-body.ts';

const maxDocument = 64 * 1024;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html */
export const createBucket: Operation = {
  name: 'CreateBucket',
  // Asked for with the location, which the body says.
  action: undefined,
  async handle(call) {
    const location = await authorizedLocation(call);
    await refuseBucketInHost(call);
    if (location !== '' && location !== call.region) {
      throw new S3Error(
        'IllegalLocationConstraintException',
        `The location constraint "${location.slice(0, 100)}" is not valid here: this store is in "${call.region}".`,
      );
    }
    await call.objects.createBucket(call.bucket, { location: call.region });
    return emptyAnswer(200, { location: `/${call.bucket}` });
  },
};

/** What the body names, once the caller may make a bucket there. The body of a caller who may make none is not read. */
async function authorizedLocation(call: S3Call): Promise<string> {
  await call.requirePossible('s3:CreateBucket', call.bucket, { below: false, keys: ['s3:locationconstraint'] });
  const allowed = (context?: PolicyContext) => call.require('s3:CreateBucket', call.bucket, context);
  let location: string;
  try {
    location = parseCreateBucketConfiguration(await readDocument(call, maxDocument)).location;
  } catch (error) {
    await allowed();
    throw error;
  }
  // Where none is named it will be where this store is.
  await allowed({ 's3:locationconstraint': [location === '' ? call.region : location] });
  return location;
}

/** `PUT /key` to `bucket.host` puts an object for clients of virtual-host style, and would make a bucket of that name here. */
async function refuseBucketInHost({ request, servedNames, objects, bucket }: S3Call): Promise<void> {
  const { host } = request.headers;
  const named = possibleBucketOf(host, servedNames);
  if (named === undefined || named === bucket || !(await isBucket(objects, named))) return;
  throw new S3Error(
    'InvalidRequest',
    `The host "${host}" begins with the name of the bucket "${named}", and virtual-host style addresses are not supported. ` +
      `Use path style; if this is the server's own name, set SVC_DOMAIN to it.`,
  );
}

async function isBucket(objects: S3Call['objects'], name: string): Promise<boolean> {
  try {
    await objects.headBucket(name);
    return true;
  } catch (error) {
    if (error instanceof S3Error && error.status < 500) return false;
    throw error;
  }
}
