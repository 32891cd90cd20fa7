import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePublicAccessBlock, writePublicAccessBlock } from '../../../protocol/s3/access/public-access-block.ts';
import { parseCors, writeCors } from '../../../protocol/s3/bucket-cors.ts';
import { parseBucketEncryption, writeBucketEncryption } from '../../../protocol/s3/bucket-encryption.ts';
import { parseLogging, writeLogging } from '../../../protocol/s3/bucket-logging.ts';
import { parseNotification, writeNotification } from '../../../protocol/s3/bucket-notification.ts';
import { parseReplication, writeReplication } from '../../../protocol/s3/bucket-replication.ts';
import { parseVersioning, writeVersioning } from '../../../protocol/s3/bucket-versioning.ts';
import { parseWebsite, writeWebsite } from '../../../protocol/s3/bucket-website.ts';
import { parseLifecycle, writeLifecycle } from '../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { parseObjectLockConfiguration, writeObjectLockConfiguration } from '../../../protocol/s3/object-lock.ts';
import { parseTagging, writeTagging } from '../../../protocol/s3/tagging.ts';
import { readXml, type XmlNode } from '../../../protocol/s3/xml-reader.ts';
import {
  encryptionDocuments,
  encryptions,
  loggingDocuments,
  loggings,
  objectLockDocuments,
  objectLocks,
  publicAccessBlockDocuments,
  publicAccessBlocks,
  taggingDocuments,
  tagSets,
  versioningDocuments,
  versionings,
} from './bucket-settings.ts';
import { corsDocuments, corsRules } from './cors.ts';
import { lifecycleDocuments, lifecycleRules } from './lifecycle.ts';
import { notificationDocuments, notificationRules } from './notification.ts';
import { bucketPolicies } from './policy.ts';
import { replicationDocuments, replications } from './replication.ts';
import { websiteDocuments, websites } from './website.ts';

/** A generator with the server's writer and parser of its values, its documents, and the elements that some of them must have. */
interface Generated<Value> {
  readonly values: fc.Arbitrary<Value>;
  readonly write: (value: Value) => string;
  readonly parse: (document: string) => Value | undefined;
  readonly documents: fc.Arbitrary<string>;
  readonly elements: string;
}

const generators = {
  lifecycle: generated({
    values: lifecycleRules,
    write: writeLifecycle,
    parse: parseLifecycle,
    documents: lifecycleDocuments,
    elements:
      'ID Status Filter And Prefix Tag Key Value ObjectSizeGreaterThan ObjectSizeLessThan Expiration Days Date ExpiredObjectDeleteMarker ' +
      'ExpiredObjectAllVersions NoncurrentVersionExpiration NoncurrentDays NewerNoncurrentVersions AbortIncompleteMultipartUpload ' +
      'DaysAfterInitiation DelMarkerExpiration Transition NoncurrentVersionTransition StorageClass',
  }),
  replication: generated({
    values: replications,
    write: writeReplication,
    parse: parseReplication,
    documents: replicationDocuments,
    elements:
      'Role ID Status Priority Filter And Prefix Tag Destination Bucket StorageClass DeleteMarkerReplication DeleteReplication ' +
      'SourceSelectionCriteria ReplicaModifications ExistingObjectReplication',
  }),
  notification: generated({
    values: notificationRules,
    write: writeNotification,
    parse: (document) => parseNotification(document, { targets: 'any', region: '' }),
    documents: notificationDocuments,
    elements: 'Id Queue Event Filter S3Key FilterRule Name Value',
  }),
  cors: generated({
    values: corsRules,
    write: writeCors,
    parse: parseCors,
    documents: corsDocuments,
    elements: 'ID AllowedOrigin AllowedMethod AllowedHeader ExposeHeader MaxAgeSeconds',
  }),
  website: generated({
    values: websites,
    write: writeWebsite,
    parse: parseWebsite,
    documents: websiteDocuments,
    elements:
      'RedirectAllRequestsTo HostName Protocol IndexDocument Suffix ErrorDocument Key RoutingRules Condition KeyPrefixEquals ' +
      'HttpErrorCodeReturnedEquals Redirect HttpRedirectCode ReplaceKeyPrefixWith ReplaceKeyWith',
  }),
  encryption: generated({
    values: encryptions,
    write: writeBucketEncryption,
    parse: parseBucketEncryption,
    documents: encryptionDocuments,
    elements:
      'ApplyServerSideEncryptionByDefault SSEAlgorithm KMSMasterKeyID BlockedEncryptionTypes EncryptionType BucketKeyEnabled',
  }),
  logging: generated({
    values: loggings,
    write: writeLogging,
    parse: parseLogging,
    documents: loggingDocuments,
    elements: 'LoggingEnabled TargetBucket TargetPrefix TargetObjectKeyFormat SimplePrefix PartitionDateSource',
  }),
  versioning: generated({
    values: versionings,
    write: writeVersioning,
    parse: parseVersioning,
    documents: versioningDocuments,
    elements: 'Status ExcludedPrefixes Prefix ExcludeFolders',
  }),
  'object lock': generated({
    values: objectLocks,
    write: writeObjectLockConfiguration,
    parse: parseObjectLockConfiguration,
    documents: objectLockDocuments,
    elements: 'ObjectLockEnabled Rule DefaultRetention Mode Days Years',
  }),
  tagging: generated({
    values: tagSets(),
    write: writeTagging,
    parse: (document) => parseTagging(document),
    documents: taggingDocuments,
    elements: 'TagSet Tag Key Value',
  }),
  'public access block': generated({
    values: publicAccessBlocks,
    write: (block) => writePublicAccessBlock(block),
    parse: parsePublicAccessBlock,
    documents: publicAccessBlockDocuments,
    elements: 'BlockPublicAcls IgnorePublicAcls BlockPublicPolicy RestrictPublicBuckets',
  }),
};

/** Hides the type of the values, so that the tests take all generators alike. */
function generated<Value>({ values, write, parse, documents, elements }: Generated<Value>) {
  return {
    values: values as fc.Arbitrary<unknown>,
    readBack: (value: unknown) => parse(write(value as Value)),
    documents,
    elements: elements.split(' '),
  };
}

describe.each(Object.entries(generators))('the generator of %s', (_name, { values, readBack, documents, elements }) => {
  it('makes what the server accepts and reads back', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(readBack(value)).toEqual(value);
      }),
      { numRuns: 300 },
    );
  });

  it('makes every element that the server knows', () => {
    const seen = new Set(
      fc
        .sample(documents, { numRuns: 1_000, seed: 1 })
        .flatMap((document) => namesIn(readXml(document, { maxBytes: 1e6 }))),
    );
    expect(elements.filter((name) => !seen.has(name))).toEqual([]);
  });
});

function namesIn({ name, children }: XmlNode): readonly string[] {
  return [name, ...children.flatMap(namesIn)];
}

it('makes policies of both versions and of none, with each element', () => {
  const texts = fc.sample(bucketPolicies('photos'), { numRuns: 500, seed: 1 });
  const words = ['2008-10-17', '2012-10-17', '"Id"', '"ID"', '"Sid"', '"NotAction"', '"NotResource"'];
  expect(
    [...words, '"Condition"', '${aws:username}'].filter((word) => !texts.some((text) => text.includes(word))),
  ).toEqual([]);
  expect(texts.some((text) => !text.includes('"Version"'))).toBe(true);
});
