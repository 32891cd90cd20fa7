import { z } from 'zod';
import { bucketFieldRules, lifecycle, replication } from './bucket-fields.ts';
import { deletionPolicy, keyName, policyDocument, stringMap, tenantRef } from './fields.ts';
import type { Rules } from './rule.ts';

/** A bucket of a tenant. The operator makes it, repairs the fields that it names, and removes those that were taken out of it. */
export const bucketSpec = z.strictObject({
  tenantRef: tenantRef.describe('Where the bucket is.'),
  bucketName: z
    .string()
    .min(3)
    .max(63)
    .regex(/^[a-z0-9][a-z0-9.-]*[a-z0-9]$/)
    .optional()
    .describe('Name of the bucket; that of this resource without it.'),
  encryption: z
    .strictObject({
      algorithm: z.enum(['aws:kms', 'AES256']).describe('SSE-KMS or SSE-S3.'),
      keyName: keyName.optional().describe("Key of SSE-KMS; the tenant's default key without it."),
    })
    .optional()
    .describe(
      'Encryption of what is written without a choice of its own. Without this field it is left alone, and what the bucket blocks always is.',
    ),
  versioning: z
    .enum(['Enabled', 'Suspended'])
    .optional()
    .describe('Whether versions are kept. Without this field it is left alone.'),
  policy: policyDocument
    .optional()
    .describe(
      'Bucket policy: a policy document, {"Version": …, "Statement": […]}. Without this field it is left alone.',
    ),
  notifications: z
    .array(
      z.strictObject({
        target: z
          .string()
          .max(129)
          .regex(/^[^:\s]{1,64}:[^:\s]{1,64}$/)
          .describe(
            'ID:TYPE of a target in notificationTargets of the tenant, or in its settings, as in BUILD:webhook.',
          ),
        events: z
          .array(z.string().min(4).max(64))
          .min(1)
          .max(50)
          .describe('Names of events, or groups such as s3:ObjectCreated:*.'),
        prefix: z.string().max(1024).optional().describe('Keys begin so.'),
        suffix: z.string().max(1024).optional().describe('Keys end so.'),
      }),
    )
    .max(100)
    .optional()
    .describe(
      'Rules that send events to targets. Without this field rules are left alone; an empty list removes them.',
    ),
  lifecycle,
  replication,
  tags: stringMap(50, z.string().max(256)).optional().describe('Tags of the bucket. Others are left alone.'),
  deletionPolicy: deletionPolicy('Retain').describe(
    'What becomes of the bucket when this resource is deleted. One that holds objects is never deleted.',
  ),
});
export type BucketSpec = z.output<typeof bucketSpec>;

export const bucketRules: Rules<BucketSpec> = {
  always: [
    {
      field: 'spec.encryption.keyName',
      message: 'encryption.keyName goes with the algorithm aws:kms',
      cel: "!has(self.encryption) || !has(self.encryption.keyName) || self.encryption.algorithm == 'aws:kms'",
      holds: ({ encryption }) => encryption?.keyName === undefined || encryption.algorithm === 'aws:kms',
    },
    ...bucketFieldRules,
  ],
  onChange: [
    {
      field: 'spec.bucketName',
      message: 'bucketName may not change: a bucket cannot be renamed',
      cel: 'has(self.bucketName) == has(oldSelf.bucketName) && (!has(self.bucketName) || self.bucketName == oldSelf.bucketName)',
      holds: (spec, old) => spec.bucketName === old.bucketName,
    },
    {
      field: 'spec.tenantRef',
      message: 'tenantRef may not change: the bucket and what is in it would stay behind',
      cel: 'self.tenantRef.name == oldSelf.tenantRef.name',
      holds: (spec, old) => spec.tenantRef.name === old.tenantRef.name,
    },
  ],
};
