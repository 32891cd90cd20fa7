import type { RuleCases, Spec } from './rule-case.ts';

const bucket: Spec = { tenantRef: { name: 'demo' } };

export const bucketCases: RuleCases = {
  kind: 'Bucket',
  plural: 'buckets',
  good: [
    { title: 'the least', spec: bucket },
    {
      title: 'every field',
      spec: {
        ...bucket,
        bucketName: 'reports.2026',
        encryption: { algorithm: 'aws:kms', keyName: 'demo-reports' },
        policy: { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Principal: '*', Action: ['s3:GetObject'] }] },
        tags: { team: 'storage' },
        deletionPolicy: 'Delete',
      },
    },
  ],
  bad: [
    {
      title: 'a key for SSE-S3',
      spec: { ...bucket, encryption: { algorithm: 'AES256', keyName: 'first' } },
      message: 'encryption.keyName goes with the algorithm aws:kms',
    },
  ],
  badChanges: [
    {
      title: 'another name of the bucket',
      from: bucket,
      to: { ...bucket, bucketName: 'another' },
      message: 'bucketName may not change',
    },
    {
      title: 'another tenant',
      from: bucket,
      to: { tenantRef: { name: 'other' } },
      message: 'tenantRef may not change',
    },
  ],
};
