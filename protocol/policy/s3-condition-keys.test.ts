import { describe, expect, it } from 'vitest';
import { isSupported, isUnsupported } from './known-names.ts';
import { parseNewPolicy } from './parse-policy.ts';

/**
 * The condition keys of S3, with those that no request to this server has.
 *
 * @see https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html#amazons3-policy-keys
 */
const keys = {
  evaluated: `
    s3:authType s3:BucketTag/team s3:delimiter s3:ExistingObjectTag/team s3:if-match s3:if-none-match
    s3:InventoryAccessibleOptionalFields s3:LocationConstraint s3:max-keys
    s3:object-lock-legal-hold s3:object-lock-mode s3:object-lock-remaining-retention-days s3:object-lock-retain-until-date
    s3:ObjectCreationOperation s3:prefix s3:RequestObjectTag/team s3:RequestObjectTagKeys s3:ResourceAccount s3:signatureAge
    s3:signatureversion s3:TlsVersion s3:versionid s3:x-amz-acl s3:x-amz-bucket-namespace s3:x-amz-content-sha256 s3:x-amz-copy-source
    s3:x-amz-grant-full-control s3:x-amz-grant-read s3:x-amz-grant-read-acp s3:x-amz-grant-write s3:x-amz-grant-write-acp
    s3:x-amz-metadata-directive s3:x-amz-object-ownership s3:x-amz-server-side-encryption
    s3:x-amz-server-side-encryption-aws-kms-key-id s3:x-amz-server-side-encryption-customer-algorithm s3:x-amz-storage-class
    s3:x-amz-website-redirect-location
  `,
  // Access points, grants, replication and batch jobs are not there.
  refused: `
    s3:AccessGrantsInstanceArn s3:AccessPointNetworkOrigin s3:AccessPointTag/team s3:DataAccessPointAccount s3:DataAccessPointArn
    s3:destinationRegion s3:ExistingJobOperation s3:ExistingJobPriority
    s3:isReplicationPauseRequest s3:JobSuspendedCause s3:RequestJobOperation s3:RequestJobPriority
    aws:RequestTag/team aws:ResourceTag/team aws:TagKeys
  `,
};
const each = (text: string) => text.trim().split(/\s+/);
const deny = (key: string) => ({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Deny', Action: 's3:*', Resource: '*', Condition: { Null: { [key]: 'true' } } }],
});

describe('the condition keys of S3', () => {
  it.each(each(keys.evaluated))('%s counts', (key) => {
    expect([isSupported(key.toLowerCase()), isUnsupported(key.toLowerCase())]).toEqual([true, false]);
    expect(() => parseNewPolicy(deny(key))).not.toThrow();
  });

  it.each(each(keys.refused))('%s is refused in a Deny, by its name', (key) => {
    expect([isSupported(key.toLowerCase()), isUnsupported(key.toLowerCase())]).toEqual([false, true]);
    expect(() => parseNewPolicy(deny(key))).toThrow(key);
  });
});
