import { checkApplicability } from '../../../protocol/policy/check-applicability.ts';
import { isPublic } from '../../../protocol/policy/is-public.ts';
import { parseBucketPolicy, parseNewBucketPolicy } from '../../../protocol/policy/parse-policy.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation, S3Call } from '../operation.ts';
import { readDocument } from '../request-body.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketPolicy.html#API_PutBucketPolicy_RequestSyntax */
const maxDocument = 20 * 1024;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketPolicy.html */
export const getBucketPolicy: Operation = {
  name: 'GetBucketPolicy',
  setting: 'policy',
  action: 's3:GetBucketPolicy',
  async handle(call) {
    const bytes = Buffer.from(await policyOf(call));
    return { status: 200, headers: { 'content-type': 'application/json' }, body: { kind: 'bytes', bytes } };
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketPolicy.html */
export const putBucketPolicy: Operation = {
  name: 'PutBucketPolicy',
  setting: 'policy',
  action: 's3:PutBucketPolicy',
  async handle(call) {
    const text = (await readDocument(call, maxDocument, 'MalformedPolicy')).toString();
    await call.objects.headBucket(call.bucket);
    checkApplicability(parseNewBucketPolicy(text, call.bucket));
    await call.objects.putBucketPolicy(call.bucket, text);
    return emptyAnswer(204);
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketPolicy.html */
export const deleteBucketPolicy: Operation = {
  name: 'DeleteBucketPolicy',
  setting: 'policy',
  action: 's3:DeleteBucketPolicy',
  async handle(call) {
    await call.objects.deleteBucketPolicy(call.bucket);
    return emptyAnswer(204);
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketPolicyStatus.html */
export const getBucketPolicyStatus: Operation = {
  name: 'GetBucketPolicyStatus',
  action: 's3:GetBucketPolicyStatus',
  async handle(call) {
    const policy = parseBucketPolicy(await policyOf(call), call.bucket);
    return xmlAnswer(xmlDocument('PolicyStatus', [element('IsPublic', isPublic(policy))]));
  },
};

async function policyOf(call: S3Call): Promise<string> {
  const policy = await call.objects.getBucketPolicy(call.bucket);
  if (policy === undefined) {
    throw new S3Error('NoSuchBucketPolicy', undefined, { details: { BucketName: call.bucket } });
  }
  return policy;
}
