import { describe, expect, it } from 'vitest';
import { ownerId } from './acl.ts';
import { parseAcl } from './access/acl-document.ts';
import { parseOwnershipControls } from './access/ownership-controls.ts';
import { parsePublicAccessBlock } from './access/public-access-block.ts';
import { parseCors } from './bucket-cors.ts';
import { parseBucketEncryption, parseCreateBucketConfiguration } from './bucket-encryption.ts';
import { parseInventory } from './bucket-inventory.ts';
import { parseLogging } from './bucket-logging.ts';
import { parseNotification } from './bucket-notification.ts';
import { parseReplication } from './bucket-replication.ts';
import { parseVersioning } from './bucket-versioning.ts';
import { parseWebsite } from './bucket-website.ts';
import { parseLifecycle } from './lifecycle/bucket-lifecycle.ts';
import { parseRestoreRequest } from './lifecycle/restore-request.ts';
import { parseLegalHold, parseObjectLockConfiguration, parseRetention } from './object-lock.ts';
import { parseCompleteMultipartUpload } from './requests/complete-multipart-request.ts';
import { parseDeleteObjects } from './requests/delete-objects-request.ts';
import { parseTagging, parseTagResource } from './tagging.ts';

const tag = '<Tag><Key>a</Key><Value>b</Value></Tag>';
const filterOf = (more = '') => `<Filter><And><Prefix>a</Prefix>${tag}${more}</And></Filter>`;
const documents: readonly (readonly [string, (body: string) => unknown])[] = [
  ['<Delete><Quiet>true</Quiet><Object><Key>a</Key></Object></Delete>', parseDeleteObjects],
  [
    '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"a"</ETag></Part></CompleteMultipartUpload>',
    parseCompleteMultipartUpload,
  ],
  [`<Tagging><TagSet>${tag}</TagSet></Tagging>`, parseTagging],
  [`<TagResourceRequest><Tags>${tag}</Tags></TagResourceRequest>`, parseTagResource],
  [
    '<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>aws:kms</SSEAlgorithm>' +
      '</ApplyServerSideEncryptionByDefault><BlockedEncryptionTypes><EncryptionType>SSE-C</EncryptionType></BlockedEncryptionTypes></Rule>' +
      '</ServerSideEncryptionConfiguration>',
    parseBucketEncryption,
  ],
  [`<CreateBucketConfiguration><Tags>${tag}</Tags></CreateBucketConfiguration>`, parseCreateBucketConfiguration],
  [
    '<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls></PublicAccessBlockConfiguration>',
    parsePublicAccessBlock,
  ],
  [
    `<AccessControlPolicy><Owner><ID>${ownerId}</ID></Owner><AccessControlList><Grant><Grantee><ID>${ownerId}</ID></Grantee>` +
      '<Permission>READ</Permission></Grant></AccessControlList></AccessControlPolicy>',
    parseAcl,
  ],
  [
    '<OwnershipControls><Rule><ObjectOwnership>ObjectWriter</ObjectOwnership></Rule></OwnershipControls>',
    parseOwnershipControls,
  ],
  [
    '<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>',
    parseCors,
  ],
  [
    '<InventoryConfiguration><Id>a</Id><IsEnabled>true</IsEnabled><Filter><Prefix>a</Prefix></Filter><Destination><S3BucketDestination>' +
      '<Bucket>arn:aws:s3:::bucket</Bucket><Format>CSV</Format><Encryption><SSE-KMS><KeyId>k</KeyId></SSE-KMS></Encryption>' +
      '</S3BucketDestination></Destination><Schedule><Frequency>Daily</Frequency></Schedule>' +
      '<IncludedObjectVersions>All</IncludedObjectVersions><OptionalFields><Field>Size</Field></OptionalFields></InventoryConfiguration>',
    (body) => parseInventory(body, 'a'),
  ],
  [
    '<BucketLoggingStatus><LoggingEnabled><TargetBucket>b</TargetBucket><TargetPrefix></TargetPrefix><TargetObjectKeyFormat>' +
      '<PartitionedPrefix><PartitionDateSource>EventTime</PartitionDateSource></PartitionedPrefix></TargetObjectKeyFormat>' +
      '</LoggingEnabled></BucketLoggingStatus>',
    parseLogging,
  ],
  [
    '<NotificationConfiguration><QueueConfiguration><Id>a</Id><Queue>arn:minio:sqs::a:webhook</Queue><Event>s3:ObjectCreated:*</Event>' +
      '<Filter><S3Key><FilterRule><Name>prefix</Name><Value>a</Value></FilterRule></S3Key></Filter></QueueConfiguration>' +
      '</NotificationConfiguration>',
    (body) => parseNotification(body, { targets: 'any', region: '' }),
  ],
  [
    `<ReplicationConfiguration><Rule><Status>Enabled</Status><Priority>1</Priority>${filterOf()}<DeleteMarkerReplication>` +
      '<Status>Disabled</Status></DeleteMarkerReplication><Destination><Bucket>arn:minio:replication::6f1b2f0a-2b1d-4c8e-9d57-1b8f4f3c2a10:b</Bucket></Destination>' +
      '<SourceSelectionCriteria><ReplicaModifications><Status>Enabled</Status></ReplicaModifications></SourceSelectionCriteria>' +
      '</Rule></ReplicationConfiguration>',
    parseReplication,
  ],
  [
    '<VersioningConfiguration><Status>Enabled</Status><ExcludedPrefixes><Prefix>a/</Prefix></ExcludedPrefixes></VersioningConfiguration>',
    parseVersioning,
  ],
  [
    '<WebsiteConfiguration><IndexDocument><Suffix>index.html</Suffix></IndexDocument><ErrorDocument><Key>e</Key></ErrorDocument>' +
      '<RoutingRules><RoutingRule><Condition><KeyPrefixEquals>a</KeyPrefixEquals></Condition><Redirect><HostName>h</HostName></Redirect>' +
      '</RoutingRule></RoutingRules></WebsiteConfiguration>',
    parseWebsite,
  ],
  [
    `<LifecycleConfiguration><Rule><ID>a</ID><Status>Enabled</Status>${filterOf('<ObjectSizeGreaterThan>1</ObjectSizeGreaterThan>')}` +
      '<Expiration><Days>9</Days></Expiration><NoncurrentVersionExpiration><NoncurrentDays>9</NoncurrentDays></NoncurrentVersionExpiration>' +
      '<Transition><Days>1</Days><StorageClass>T</StorageClass></Transition><NoncurrentVersionTransition><NoncurrentDays>1</NoncurrentDays>' +
      '<StorageClass>T</StorageClass></NoncurrentVersionTransition></Rule></LifecycleConfiguration>',
    parseLifecycle,
  ],
  [
    '<RestoreRequest><Days>1</Days><GlacierJobParameters><Tier>Bulk</Tier></GlacierJobParameters></RestoreRequest>',
    parseRestoreRequest,
  ],
  [
    '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>1</Days>' +
      '</DefaultRetention></Rule></ObjectLockConfiguration>',
    parseObjectLockConfiguration,
  ],
  [
    '<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>2099-01-01T00:00:00Z</RetainUntilDate></Retention>',
    parseRetention,
  ],
  ['<LegalHold><Status>ON</Status></LegalHold>', parseLegalHold],
];

/** Each copy of a document in which one of its elements that have children has an unknown one too. */
function withUnknown(document: string): [string, string][] {
  return [...document.matchAll(/<([A-Za-z0-9-]+)>(?=<[A-Za-z])/g)].map(({ 0: opening, 1: name = '', index }) => {
    const inside = index + opening.length;
    return [name, `${document.slice(0, inside)}<Unknown>1</Unknown>${document.slice(inside)}`];
  });
}

// A client would believe that the server honours it: with `<VersionID>` for `<VersionId>`, the current version would be deleted.
describe.each(documents)('an element that is not known in %s', (document, parse) => {
  it('is not there in what is accepted', () => {
    expect(() => parse(document)).not.toThrow();
  });

  it.each(withUnknown(document))('is refused in %s', (_element, changed) => {
    expect(() => parse(changed)).toThrow(expect.objectContaining({ name: 'S3Error' }));
  });
});

it.each(['maybe', '1', ''])('refuses to delete quietly by "%s"', (quiet) => {
  const body = `<Delete><Quiet>${quiet}</Quiet><Object><Key>a</Key></Object></Delete>`;
  expect(() => parseDeleteObjects(body)).toThrow('"Quiet" is true or false');
});
