import { parseCreateBucketConfiguration } from '../../../protocol/s3/bucket-encryption.ts';
import { aclOfNewBucket } from '../acl/acl-request.ts';
import { ownershipOfNewBucket } from '../configuration/ownership-controls.ts';
import { hasAclHeaders } from '../object-headers.ts';
import { locationOf } from '../../../protocol/s3/bucket-location.ts';
import { checkNewBucketName } from '../../../protocol/s3/names.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { maxTaggingDocument, type Tags } from '../../../protocol/s3/tagging.ts';
import { emptyBucket, isForceDelete } from '../object/force-delete.ts';
import { header } from '../request.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation, PolicyContext, S3Call } from '../operation.ts';
import { readDocument } from '../request-body.ts';
import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import { possibleBucketOf } from '../../http/contract/host-style.ts';

/** `eu-central-1`, `us-gov-west-1`, and `EU`, the oldest. */
const looksLikeRegion = /^(?:EU|[a-z]{2}(?:-[a-z]+)+-[0-9]{1,2})$/;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html */
export const createBucket: Operation = {
  name: 'CreateBucket',
  // The operation authorizes the caller itself, because the location is in the body.
  action: undefined,
  async handle(call) {
    const { location, tags, conditions } = await authorizedConfiguration(call);
    checkNewBucketName(call.bucket);
    if (tags !== undefined) await call.require('s3:TagResource', call.bucket);
    const objectLock = wantsObjectLock(call);
    if (objectLock) {
      await call.require('s3:PutBucketObjectLockConfiguration', call.bucket);
      await call.require('s3:PutBucketVersioning', call.bucket);
    }
    const ownership = await ownershipOfNewBucket(call);
    const acl = hasAclHeaders(call.request.headers) ? await aclOfNewBucket(call, { ownership, conditions }) : undefined;
    await refuseBucketInHost(call);
    checkLocation(call, location);
    const options = { location: location === '' ? call.region : location, objectLock, ownership, acl, tags };
    await call.objects.createBucket(call.bucket, options, call);
    return emptyAnswer(200, { location: `/${call.bucket}`, 'x-amz-bucket-arn': `arn:aws:s3:::${call.bucket}` });
  },
};

/**
 * Checks the region that a client asks for. A store without a region of its own takes any, since programs are written for one region of
 * AWS, and signatures for any region hold there.
 *
 * @throws S3Error InvalidLocationConstraint, IllegalLocationConstraintException
 */
function checkLocation({ region, hasRegion }: S3Call, location: string): void {
  if (location === '' || location === region) return;
  if (!looksLikeRegion.test(location)) {
    const message = `The location constraint "${location.slice(0, 100)}" is no name of a region: send one like "eu-central-1", or none.`;
    throw new S3Error('InvalidLocationConstraint', message, {
      details: { LocationConstraint: location.slice(0, 100) },
    });
  }
  if (!hasRegion) return;
  throw new S3Error(
    'IllegalLocationConstraintException',
    `The location constraint "${location.slice(0, 100)}" is not valid here: this store is in "${region}", as its setting SVC_REGION says.`,
  );
}

/** @throws S3Error InvalidArgument unless the header is absent, true or false */
function wantsObjectLock({ request }: S3Call): boolean {
  const name = 'x-amz-bucket-object-lock-enabled';
  const value = header(request.headers, name)?.toLowerCase() ?? 'false';
  if (value === 'true' || value === 'false') return value === 'true';
  throw new S3Error('InvalidArgument', `${name} is true or false.`, {
    details: { ArgumentName: name, ArgumentValue: value.slice(0, 100) },
  });
}

/**
 * Reads the location and the tags from the body. It first checks that a policy could allow the caller to create the bucket, so that the
 * body of any other caller stays unread.
 */
async function authorizedConfiguration(
  call: S3Call,
): Promise<{ readonly location: string; readonly tags?: Tags; readonly conditions: PolicyContext }> {
  await call.requirePossible('s3:CreateBucket', call.bucket, { below: false, keys: ['s3:locationconstraint'] });
  const authorize = (context?: PolicyContext) => call.require('s3:CreateBucket', call.bucket, context);
  let configuration: ReturnType<typeof parseCreateBucketConfiguration>;
  try {
    configuration = parseCreateBucketConfiguration(await readDocument(call, maxTaggingDocument));
  } catch (error) {
    await authorize();
    throw error;
  }
  // Without a location constraint the bucket gets the region of this server.
  const { location } = configuration;
  const conditions = { 's3:locationconstraint': [location === '' ? call.region : location] };
  await authorize(conditions);
  return { ...configuration, conditions };
}

/**
 * Refuses `PUT /key` to `bucket.host` where SVC_DOMAIN does not name `host`. A client of virtual-host style means an object, and this
 * server would create a bucket of that name.
 */
async function refuseBucketInHost({ request, servedNames, objects, bucket }: S3Call): Promise<void> {
  if (request.hostStyle !== undefined) return;
  const { host } = request.headers;
  const named = possibleBucketOf(host, servedNames);
  if (named === undefined || named === bucket || !(await isBucket(objects, named))) return;
  throw new S3Error(
    'InvalidRequest',
    `The host "${host}" begins with the name of the bucket "${named}", and this server knows no virtual hosts there. ` +
      'Set SVC_DOMAIN to the name of the server, or use path style.',
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

/** Returns the region of a location. That of the oldest location in Europe has another name. */
export function regionOfLocation(location: string): string {
  return location === 'EU' ? 'eu-west-1' : location;
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html */
export const headBucket: Operation = {
  name: 'HeadBucket',
  action: 's3:ListBucket',
  async handle(call) {
    const location = locationOf(call, await call.objects.headBucket(call.bucket));
    return emptyAnswer(200, { 'x-amz-bucket-region': regionOfLocation(location) });
  },
};

/** Writes a document whose root element holds only text. GetBucketLocation alone needs one. */
function textDocument(root: string, text: string): string {
  const xmlns = 'http://s3.amazonaws.com/doc/2006-03-01/';
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element(root, text, { xmlns })}`;
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLocation.html */
export const getBucketLocation: Operation = {
  name: 'GetBucketLocation',
  action: 's3:GetBucketLocation',
  async handle(call) {
    const location = locationOf(call, await call.objects.headBucket(call.bucket));
    // S3 reports us-east-1 as an empty element, because there was no other region at first.
    return xmlAnswer(
      location === 'us-east-1' ? xmlDocument('LocationConstraint', []) : textDocument('LocationConstraint', location),
    );
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucket.html */
export const deleteBucket: Operation = {
  name: 'DeleteBucket',
  action: 's3:DeleteBucket',
  async handle(call) {
    if (isForceDelete(call)) await emptyBucket(call);
    await call.objects.deleteBucket(call.bucket, call);
    return emptyAnswer(204);
  },
};
