import * as fc from 'fast-check';
import { type PublicAccessBlock, writePublicAccessBlock } from '../../../protocol/s3/access/public-access-block.ts';
import { type BucketEncryptionRule, writeBucketEncryption } from '../../../protocol/s3/bucket-encryption.ts';
import { type BucketLogging, writeLogging } from '../../../protocol/s3/bucket-logging.ts';
import { type VersioningConfiguration, writeVersioning } from '../../../protocol/s3/bucket-versioning.ts';
import { type ObjectLockRule, writeObjectLockConfiguration } from '../../../protocol/s3/object-lock.ts';
import { type Tags, writeTagging } from '../../../protocol/s3/tagging.ts';
import { defined, flag, keyText, maybe } from './texts.ts';

const blocked = fc.uniqueArray(fc.constantFrom('SSE-C' as const, 'NONE' as const), { maxLength: 2 });
const bucketKey = maybe(fc.boolean());

/** Every default encryption that the server accepts. */
export const encryptions: fc.Arbitrary<BucketEncryptionRule> = fc.oneof(
  defined<Extract<BucketEncryptionRule, { scheme: 'SSE-S3' }>>({
    scheme: fc.constant('SSE-S3'),
    bucketKey,
    blocked: maybe(blocked),
  }),
  defined<Extract<BucketEncryptionRule, { scheme: 'SSE-KMS' }>>({
    scheme: fc.constant('SSE-KMS'),
    keyName: maybe(fc.constantFrom('photos', 'a-key')),
    bucketKey,
    blocked: maybe(blocked),
  }),
  defined<Extract<BucketEncryptionRule, { scheme: 'none' }>>({ scheme: fc.constant('none'), bucketKey, blocked }),
);
export const encryptionDocuments: fc.Arbitrary<string> = encryptions.map(writeBucketEncryption);

/** Every place of access logs that the server accepts. */
export const loggings: fc.Arbitrary<BucketLogging> = defined<BucketLogging>({
  targetBucket: fc.constantFrom('logs', 'audit'),
  targetPrefix: fc.oneof(fc.constant(''), keyText),
  partitionBy: maybe(fc.constantFrom('EventTime' as const, 'DeliveryTime' as const)),
});
export const loggingDocuments: fc.Arbitrary<string> = maybe(loggings).map(writeLogging);

/** Every versioning that the server accepts. */
export const versionings: fc.Arbitrary<VersioningConfiguration> = fc.oneof(
  defined<VersioningConfiguration>({
    status: fc.constant('Enabled'),
    excludedPrefixes: maybe(fc.array(keyText, { minLength: 1, maxLength: 10 })),
    excludeFolders: flag,
  }),
  defined<VersioningConfiguration>({
    status: fc.constant('Suspended'),
    excludedPrefixes: fc.constant(undefined),
    excludeFolders: flag,
  }),
);
export const versioningDocuments: fc.Arbitrary<string> = maybe(versionings).map(writeVersioning);

const mode = fc.constantFrom('GOVERNANCE' as const, 'COMPLIANCE' as const);

/** Every default retention that the server accepts. */
export const objectLocks: fc.Arbitrary<ObjectLockRule> = fc.oneof(
  fc.constant({}),
  fc.record({ mode, days: fc.integer({ min: 1, max: 36_500 }) }).map((defaultRetention) => ({ defaultRetention })),
  fc.record({ mode, years: fc.integer({ min: 1, max: 100 }) }).map((defaultRetention) => ({ defaultRetention })),
);
export const objectLockDocuments: fc.Arbitrary<string> = objectLocks.map(writeObjectLockConfiguration);

const tagText = fc.oneof(
  fc.constantFrom('team', 'a b', ' a ', 'ä 猫', '-/+=._:@', '7'),
  fc
    .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 8 })
    .map((text) => text.replaceAll(/[^\w+\-=._:/@ ]/g, '_')),
);

/** Every set of tags of a bucket, or with `max` 10 of an object, that the server accepts. */
export function tagSets(max = 50): fc.Arbitrary<Tags> {
  return fc
    .uniqueArray(fc.tuple(tagText, fc.oneof(fc.constant(''), tagText)), {
      maxLength: max,
      size: 'small',
      selector: ([key]) => key,
    })
    .map((tags) => tags.filter(([key]) => !key.toLowerCase().startsWith('aws:')))
    .map((tags) => Object.fromEntries(tags.sort(([one], [other]) => (one < other ? -1 : 1))));
}
export const taggingDocuments: fc.Arbitrary<string> = tagSets().map(writeTagging);

/** Every public access block. */
export const publicAccessBlocks: fc.Arbitrary<PublicAccessBlock> = defined<PublicAccessBlock>({
  blockPublicAcls: fc.boolean(),
  ignorePublicAcls: fc.boolean(),
  blockPublicPolicy: fc.boolean(),
  restrictPublicBuckets: fc.boolean(),
});
export const publicAccessBlockDocuments: fc.Arbitrary<string> = publicAccessBlocks.map((block) =>
  writePublicAccessBlock(block),
);
