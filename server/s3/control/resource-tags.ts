import { checkBucketName } from '../../../protocol/s3/names.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { maxTaggingDocument, mergeTags, parseTagResource, writeResourceTags } from '../../../protocol/s3/tagging.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { readDocument } from '../request-body.ts';
import type { ControlOperation } from './control-operations.ts';

/**
 * The tags of a bucket by its ARN, by the methods of their requests. Terraform reads and writes the tags of buckets so.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_control_ListTagsForResource.html
 */
export const tagsOperations: Readonly<Record<string, Operation>> = {
  GET: {
    name: 'ListTagsForResource',
    action: 's3:ListTagsForResource',
    async handle(call) {
      return xmlAnswer(writeResourceTags((await call.objects.getBucketTags(call.bucket)) ?? {}));
    },
  },
  POST: {
    name: 'TagResource',
    action: 's3:TagResource',
    async handle(call) {
      const added = parseTagResource(await readDocument(call, maxTaggingDocument));
      await call.objects.changeBucketTags(call.bucket, (tags) => mergeTags(tags, added));
      return emptyAnswer(204);
    },
  },
  DELETE: {
    name: 'UntagResource',
    action: 's3:UntagResource',
    async handle(call) {
      const removed = new Set(new URLSearchParams(call.request.rawQuery).getAll('tagKeys'));
      if (removed.size === 0) throw new S3Error('InvalidRequest', 'The parameter tagKeys is missing.');
      await call.objects.changeBucketTags(call.bucket, (tags) =>
        Object.fromEntries(Object.entries(tags).filter(([key]) => !removed.has(key))),
      );
      return emptyAnswer(204);
    },
  },
};

/**
 * Returns the operation on the tags of an ARN, as it is in the path.
 *
 * @throws S3Error MethodNotAllowed, InvalidURI, InvalidRequest, InvalidBucketName, and NotImplemented for an ARN of another resource than a bucket
 */
export function tagsOperation(method: string, encodedArn: string): ControlOperation {
  const operation = tagsOperations[method];
  if (operation === undefined) throw new S3Error('MethodNotAllowed');
  return { operation, bucket: bucketOf(encodedArn) };
}

function bucketOf(encodedArn: string): string {
  const arn = decoded(encodedArn);
  const shown = arn.slice(0, 200);
  const [prefix, partition, service, region, account, bucket = '', ...more] = arn.split(':');
  if (prefix !== 'arn' || partition !== 'aws' || service !== 's3') {
    throw new S3Error('InvalidRequest', `"${shown}" is not the ARN of a resource of S3.`);
  }
  if (region !== '' || account !== '' || bucket.includes('/') || more.length > 0) {
    throw new S3Error('NotImplemented', `Only buckets have tags here, and "${shown}" is not the ARN of one.`);
  }
  checkBucketName(bucket);
  return bucket;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Error('InvalidURI', `The path "${text.slice(0, 200)}" is not valid percent-encoded UTF-8.`);
  }
}
