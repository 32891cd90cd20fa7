import { patternOfService } from '../../../protocol/policy/arns.ts';
import { decide } from '../../../protocol/policy/decide.ts';
import type { NamedPolicy } from '../../../protocol/policy/evaluate.ts';
import { parseBucketPolicy } from '../../../protocol/policy/parse-policy.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectContext } from '../context/context.ts';
import type { Delivery, ObjectInfo, PutObject } from '../contract/object-layer.ts';
import { encryptionOf, putObject } from './put-object.ts';
import { getBucket } from '../records/bucket-record.ts';

/**
 * Writes an object of the server itself, such as an access log or a report, into a bucket. The user who configured it was allowed
 * to write there. Here the policy of the bucket is asked, as it is now: a statement that denies the write to everyone holds for the server too.
 * Throws `AccessDenied`.
 */
export async function deliverObject(context: ObjectContext, delivery: Delivery): Promise<ObjectInfo> {
  const { service, ...object } = delivery;
  const { bucket, key, encryption } = object;
  const { policy } = (await getBucket(context.records, bucket)).record;
  if (policy !== undefined) {
    const { effect, reason } = decide({
      identity: [server],
      bucket: { name: `bucket ${bucket}`, document: parseBucketPolicy(policy, bucket) },
      request: {
        action: 's3:PutObject',
        resource: `${bucket}/${key}`,
        // The server has no name of a user: statements for everyone apply to it, and those for the service of AWS whose work it does.
        principals: [patternOfService(service)],
        variables: {},
        context: { ...conditions, ...encryptionConditions(encryption) },
      },
    });
    if (effect === 'deny') throw new S3Error('AccessDenied', undefined, { cause: reason });
  }
  return putObject(context, object);
}

/** Reports whether an object of the server is encrypted in a bucket. */
export async function encryptsDelivery(
  context: ObjectContext,
  bucket: string,
  encryption: PutObject['encryption'],
): Promise<boolean> {
  return encryptionOf(context, (await getBucket(context.records, bucket)).record, { encryption }) !== undefined;
}

/** A policy that denies requests without TLS does not mean the server itself. */
const conditions = { 'aws:SecureTransport': ['true'] };

function encryptionConditions(encryption: PutObject['encryption']): Record<string, readonly string[]> {
  const header = 's3:x-amz-server-side-encryption';
  if (encryption?.scheme === 'SSE-S3') return { [header]: ['AES256'] };
  if (encryption?.scheme !== 'SSE-KMS') return {};
  const { keyName } = encryption;
  const kind = { [header]: ['aws:kms'] };
  if (keyName === undefined) return kind;
  return { ...kind, [`${header}-aws-kms-key-id`]: [keyName] };
}

const server: NamedPolicy = {
  name: 'the server',
  document: {
    version: '2012-10-17',
    statements: [
      {
        effect: 'Allow',
        actions: { kind: 'only', patterns: ['s3:PutObject'] },
        resources: { kind: 'only', patterns: ['*'] },
        conditions: [],
      },
    ],
  },
};
