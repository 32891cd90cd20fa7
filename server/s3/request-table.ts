import type { S3ErrorCode } from '../../protocol/s3/s3-error.ts';
import { checkChecksumAlgorithm } from './request-body.ts';
import type { S3Call } from './operation.ts';
import {
  checkReplicaHeader,
  checkReplicaVersion,
  replicaDeletionHeaders,
  replicaHeaders,
} from './object/replica-headers.ts';
import { checkBypass } from './tag-and-lock-headers.ts';
import { checkAccount, checkOwner } from './owner.ts';
import { checkVersion } from './request.ts';

/**
 * How an operation handles a header or query parameter. No name that S3 defines is ignored silently: the operation honours it, refuses it
 * by its name, or it is harmless for the given reason.
 */
export type Treatment =
  /** The operation reads it. `check` runs before the operation. */
  | { readonly kind: 'honoured'; readonly check?: (value: string, call: S3Call) => void }
  /** The values of `except`, in lower case, are accepted, because they ask for the default. */
  | { readonly kind: 'refused'; readonly code: S3ErrorCode; readonly why: string; readonly except: readonly string[] }
  | { readonly kind: 'harmless'; readonly why: string };

/** Rows by name: headers in lower case, query parameters with a question mark before their name. */
export type Rows = Readonly<Record<string, Treatment>>;

const honoured: Treatment = { kind: 'honoured' };

function rejected(why: string, options: { code?: S3ErrorCode; except?: readonly string[] } = {}): Treatment {
  return { kind: 'refused', why, code: options.code ?? 'NotImplemented', except: options.except ?? [] };
}

function harmless(why: string): Treatment {
  return { kind: 'harmless', why };
}

function each(names: string, treatment: Treatment): Rows {
  return Object.fromEntries(names.split(' ').map((name) => [name, treatment]));
}

/** The rows of all operations. */
const common: Rows = {
  'x-amz-expected-bucket-owner': { kind: 'honoured', check: checkOwner },
  'x-amz-request-payer': harmless('requests cost nothing here, whoever pays'),
};

const describing: Rows = each(
  'cache-control content-disposition content-encoding content-language content-type expires x-amz-meta-* x-amz-storage-class ' +
    'x-amz-website-redirect-location',
  honoured,
);

const aclNames =
  'x-amz-acl x-amz-grant-full-control x-amz-grant-read x-amz-grant-read-acp x-amz-grant-write x-amz-grant-write-acp';
const acl: Rows = each(aclNames, honoured);
const noAcl = { code: 'AccessControlListNotSupported' } as const;
const aclElsewhere: Rows = {
  ...each(aclNames, rejected('this operation sets no ACL', noAcl)),
  'x-amz-acl': rejected('this operation sets no ACL', {
    ...noAcl,
    except: ['private', 'bucket-owner-read', 'bucket-owner-full-control'],
  }),
};

const lockNames = 'x-amz-object-lock-mode x-amz-object-lock-retain-until-date x-amz-object-lock-legal-hold';
const eventHold: Rows = each(
  'x-amz-object-lock-event-hold x-amz-object-lock-event-hold-duration-days x-amz-object-lock-event-hold-duration-years',
  rejected('objects have no event holds'),
);
const bypass: Rows = { 'x-amz-bypass-governance-retention': { kind: 'honoured', check: checkBypass } };
const unlocking: Rows = { ...bypass, 'x-amz-mfa': rejected('a second factor is not checked') };

/** Settings of an object that its headers do not describe. */
const keptWithObjects: Rows = {
  ...each(`x-amz-tagging ${lockNames}`, honoured),
  ...eventHold,
  ...acl,
};

const sse = 'x-amz-server-side-encryption';
const encryption: Rows = each(`${sse} ${sse}-aws-kms-key-id ${sse}-context ${sse}-bucket-key-enabled`, honoured);
const customerKey: Rows = each(`${sse}-customer-algorithm ${sse}-customer-key ${sse}-customer-key-md5`, honoured);

const checksums: Rows = each(
  'x-amz-checksum-crc32 x-amz-checksum-crc32c x-amz-checksum-crc64nvme x-amz-checksum-sha1 x-amz-checksum-sha256 ' +
    'x-amz-checksum-sha512 x-amz-checksum-md5 x-amz-checksum-xxhash64 x-amz-checksum-xxhash3 x-amz-checksum-xxhash128',
  honoured,
);
/** Digests of the body of any request. */
const bodyDigests: Rows = {
  'content-md5': honoured,
  'x-amz-sdk-checksum-algorithm': { kind: 'honoured', check: checkChecksumAlgorithm },
  ...checksums,
};

/** Headers of a server that replicates. */
function ofReplicas(names: readonly string[]): Rows {
  return Object.fromEntries(
    names.map((name) => [name, { kind: 'honoured', check: (value, call) => checkReplicaHeader(name, value, call) }]),
  );
}

const replica: Rows = {
  ...ofReplicas(replicaHeaders),
  '?versionId': { kind: 'honoured', check: checkReplicaVersion },
};

const readConditions: Rows = each('if-match if-none-match if-modified-since if-unmodified-since', honoured);
const writeConditions: Rows = each('if-match if-none-match', honoured);

const copySource: Rows = {
  ...each(
    'x-amz-copy-source x-amz-copy-source-if-match x-amz-copy-source-if-none-match x-amz-copy-source-if-modified-since ' +
      'x-amz-copy-source-if-unmodified-since x-amz-copy-source-server-side-encryption-customer-algorithm ' +
      'x-amz-copy-source-server-side-encryption-customer-key x-amz-copy-source-server-side-encryption-customer-key-md5',
    honoured,
  ),
  'x-amz-source-expected-bucket-owner': { kind: 'honoured', check: checkOwner },
};

const version: Rows = { '?versionId': { kind: 'honoured', check: checkVersion } };
/** A server that replicates asks for an object of this server alone. */
const unproxied = ofReplicas(['x-minio-source-proxy-request', 'x-minio-source-replication-request']);

const reading: Rows = {
  ...unproxied,
  ...readConditions,
  ...customerKey,
  ...each('range x-amz-checksum-mode x-amz-tagging-directive ?partNumber', honoured),
  ...each(
    '?response-cache-control ?response-content-disposition ?response-content-encoding ?response-content-language ' +
      '?response-content-type ?response-expires',
    honoured,
  ),
  ...version,
};

/** The upload says what it replicates. */
const partOfReplica: Rows = ofReplicas([
  'x-minio-source-replication-request',
  'x-minio-source-mtime',
  'x-minio-source-etag',
  'x-minio-replication-actual-object-size',
]);

const lockToken: Rows = { 'x-amz-bucket-object-lock-token': rejected('object lock needs no token') };

const archived: Rows = {
  'x-amz-optional-object-attributes': honoured,
};
const listing: Rows = each('?delimiter ?encoding-type ?prefix', honoured);

const secondFactor: Rows = { 'x-amz-mfa': rejected('a second factor is not checked') };

/** A removal of a setting of a bucket, and a write of one: see `handleSetting`. */
const settingRemoval: Rows = { ...common, ...writeConditions };
const settingWrite: Rows = { ...settingRemoval, ...bodyDigests };

/** The headers and parameters that S3 defines for each operation that this server supports. */
export const requestTable: Readonly<Record<string, Rows>> = {
  ListBuckets: {
    ...common,
    ...each('?max-buckets ?continuation-token ?prefix ?bucket-region', honoured),
    // ListDirectoryBuckets differs only in this parameter.
    '?x-id': rejected('directory buckets are not implemented', { except: ['listbuckets', ''] }),
  },

  CreateBucket: {
    ...common,
    ...acl,
    ...bodyDigests,
    'x-amz-bucket-object-lock-enabled': honoured,
    'x-amz-object-ownership': honoured,
    'x-amz-bucket-namespace': rejected('all buckets are in one namespace', { except: ['global'] }),
  },
  HeadBucket: common,
  DeleteBucket: { ...common, 'x-minio-force-delete': honoured },
  GetBucketLocation: common,
  GetBucketEncryption: common,
  PutBucketEncryption: settingWrite,
  DeleteBucketEncryption: settingRemoval,
  GetBucketPolicy: common,
  PutBucketPolicy: {
    ...settingWrite,
    'x-amz-confirm-remove-self-bucket-access': harmless(
      'it confirms what is allowed without it: root is never locked out',
    ),
  },
  DeleteBucketPolicy: settingRemoval,
  GetBucketPolicyStatus: common,
  GetBucketTagging: common,
  PutBucketTagging: settingWrite,
  DeleteBucketTagging: settingRemoval,

  GetBucketCors: common,
  PutBucketCors: settingWrite,
  DeleteBucketCors: settingRemoval,

  ListObjects: { ...common, ...listing, ...archived, ...each('?marker ?max-keys', honoured) },
  ListObjectsV2: {
    ...common,
    ...listing,
    ...archived,
    ...each('?max-keys ?continuation-token ?fetch-owner ?start-after ?metadata', honoured),
  },
  ListObjectVersions: {
    ...common,
    ...listing,
    ...archived,
    ...each('?key-marker ?max-keys ?version-id-marker ?metadata', honoured),
  },
  ListMultipartUploads: {
    ...common,
    ...listing,
    ...each('?key-marker ?max-uploads ?upload-id-marker', honoured),
  },
  DeleteObjects: { ...common, ...unlocking, ...bodyDigests },

  GetBucketAccelerateConfiguration: common,
  PutBucketAccelerateConfiguration: settingWrite,
  GetBucketAcl: common,
  PutBucketAcl: { ...common, ...writeConditions, ...acl, ...bodyDigests },
  GetBucketInventoryConfiguration: { ...common, '?id': honoured },
  ListBucketInventoryConfigurations: { ...common, '?continuation-token': honoured },
  PutBucketInventoryConfiguration: { ...settingWrite, '?id': honoured },
  DeleteBucketInventoryConfiguration: { ...settingRemoval, '?id': honoured },
  GetBucketLifecycleConfiguration: common,
  PutBucketLifecycleConfiguration: {
    ...settingWrite,
    'x-amz-transition-default-minimum-object-size': honoured,
  },
  DeleteBucketLifecycle: settingRemoval,
  GetBucketLogging: common,
  PutBucketLogging: settingWrite,
  GetBucketNotificationConfiguration: common,
  ListenNotification: { ...common, ...each('?events ?ping ?prefix ?suffix', honoured) },
  ListenBucketNotification: { ...common, ...each('?events ?ping ?prefix ?suffix', honoured) },
  PutBucketNotificationConfiguration: {
    ...settingWrite,
    'x-amz-skip-destination-validation': honoured,
  },
  GetObjectLockConfiguration: common,
  PutObjectLockConfiguration: { ...settingWrite, ...lockToken },
  GetBucketOwnershipControls: common,
  PutBucketOwnershipControls: settingWrite,
  DeleteBucketOwnershipControls: settingRemoval,
  GetPublicAccessBlock: common,
  PutPublicAccessBlock: settingWrite,
  DeletePublicAccessBlock: settingRemoval,
  GetBucketReplication: common,
  PutBucketReplication: { ...settingWrite, ...lockToken },
  DeleteBucketReplication: settingRemoval,
  GetBucketReplicationMetrics: common,
  ResetBucketReplicationCancel: { ...common, ...each('?arn', honoured) },
  ResetBucketReplicationStart: { ...common, ...each('?arn ?older-than ?reset-id', honoured) },
  ResetBucketReplicationStatus: { ...common, ...each('?arn', honoured) },
  GetBucketRequestPayment: common,
  PutBucketRequestPayment: settingWrite,
  GetBucketVersioning: common,
  PutBucketVersioning: { ...settingWrite, ...secondFactor },
  GetBucketWebsite: common,
  PutBucketWebsite: settingWrite,
  DeleteBucketWebsite: settingRemoval,

  GetObject: { ...common, ...reading },
  HeadObject: { ...common, ...reading },
  PutObject: {
    ...common,
    ...replica,
    ...describing,
    ...keptWithObjects,
    ...encryption,
    ...customerKey,
    ...bodyDigests,
    ...writeConditions,
    'content-length': honoured,
    'x-amz-checksum-type': rejected('an object that is put whole has a checksum of the whole', {
      code: 'InvalidRequest',
      except: ['full_object'],
    }),
    'x-amz-write-offset-bytes': rejected('bytes cannot be appended'),
    'x-minio-extract': rejected('archives are not unpacked', { except: ['false'] }),
    'x-amz-meta-snowball-auto-extract': rejected('archives are not unpacked', { except: ['false'] }),
  },
  /** Its fields are checked as headers of PutObject. It is not an operation of the model. */
  PostObject: common,
  CopyObject: {
    ...common,
    ...replica,
    ...describing,
    ...keptWithObjects,
    ...encryption,
    ...customerKey,
    ...copySource,
    ...writeConditions,
    'x-amz-checksum-algorithm': honoured,
    'x-amz-metadata-directive': honoured,
    'x-amz-tagging-directive': honoured,
    'x-amz-object-annotation-directive': harmless('objects have no annotations that could be copied'),
  },
  RenameObject: {
    ...common,
    ...readConditions,
    ...each(
      'x-amz-rename-source x-amz-rename-source-if-match x-amz-rename-source-if-none-match ' +
        'x-amz-rename-source-if-modified-since x-amz-rename-source-if-unmodified-since x-amz-client-token',
      honoured,
    ),
  },
  DeleteObject: {
    ...common,
    ...unlocking,
    ...version,
    ...each('if-match x-amz-if-match-last-modified-time x-amz-if-match-size', honoured),
    ...ofReplicas(replicaDeletionHeaders),
    'x-minio-force-delete': honoured,
  },
  GetObjectAttributes: {
    ...common,
    ...version,
    ...readConditions,
    ...customerKey,
    'x-amz-object-attributes': honoured,
    ...each('x-amz-max-parts x-amz-part-number-marker', honoured),
  },
  GetObjectAcl: { ...common, ...version },
  PutObjectAcl: { ...common, ...version, ...acl, ...bodyDigests },
  GetObjectTagging: { ...common, ...version, ...unproxied },
  PutObjectTagging: { ...common, ...version, ...bodyDigests },
  DeleteObjectTagging: { ...common, ...version },
  SelectObjectContent: {
    ...common,
    ...version,
    ...customerKey,
    ...bodyDigests,
    '?select-type': honoured,
  },
  RestoreObject: { ...common, ...version, ...bodyDigests },
  GetObjectRetention: { ...common, ...version },
  PutObjectRetention: { ...common, ...version, ...bypass, ...bodyDigests },
  GetObjectLegalHold: { ...common, ...version },
  PutObjectLegalHold: { ...common, ...version, ...bodyDigests },

  CreateMultipartUpload: {
    ...common,
    ...replica,
    ...describing,
    ...keptWithObjects,
    ...encryption,
    ...customerKey,
    ...each('x-amz-checksum-algorithm x-amz-checksum-type', honoured),
    // S3 defines them for the completion. Some clients send them with both requests, and expect the first to be refused.
    ...writeConditions,
  },
  UploadPart: {
    ...common,
    ...partOfReplica,
    ...customerKey,
    // minio-go and others repeat the encryption of the upload. It must be the same.
    ...encryption,
    ...bodyDigests,
    ...each('content-length ?partNumber ?uploadId', honoured),
  },
  UploadPartCopy: {
    ...common,
    ...customerKey,
    ...encryption,
    ...copySource,
    ...each('x-amz-copy-source-range ?partNumber ?uploadId', honoured),
  },
  CompleteMultipartUpload: {
    ...common,
    ...partOfReplica,
    ...customerKey,
    ...encryption,
    ...checksums,
    ...writeConditions,
    ...each('content-md5 x-amz-checksum-type x-amz-mp-object-size ?uploadId', honoured),
  },
  AbortMultipartUpload: {
    ...common,
    'x-amz-if-match-initiated-time': rejected('the time at which an upload began is not compared'),
    '?uploadId': honoured,
  },
  ListParts: {
    ...common,
    ...customerKey,
    ...each('?encoding-type ?max-parts ?part-number-marker ?uploadId', honoured),
  },
};

const ofAccount: Rows = { ...bodyDigests, 'x-amz-account-id': { kind: 'honoured', check: checkAccount } };

/** The headers of the operations of S3 Control that this server supports. */
export const accountTable: Readonly<Record<string, Rows>> = {
  GetAccountPublicAccessBlock: ofAccount,
  PutAccountPublicAccessBlock: ofAccount,
  DeleteAccountPublicAccessBlock: ofAccount,
  ListTagsForResource: ofAccount,
  TagResource: ofAccount,
  UntagResource: { ...ofAccount, '?tagKeys': honoured },
};

/** Operations that this server does not support. It refuses the whole request. */
export const notServed: readonly string[] = (
  'CreateBucketMetadataConfiguration CreateBucketMetadataTableConfiguration CreateSession DeleteBucketAnalyticsConfiguration ' +
  'DeleteBucketIntelligentTieringConfiguration ' +
  'DeleteBucketMetadataConfiguration DeleteBucketMetadataTableConfiguration DeleteBucketMetricsConfiguration ' +
  'DeleteObjectAnnotation ' +
  'GetBucketAbac GetBucketAnalyticsConfiguration GetBucketIntelligentTieringConfiguration ' +
  'GetBucketMetadataConfiguration GetBucketMetadataTableConfiguration ' +
  'GetBucketMetricsConfiguration GetObjectAnnotation GetObjectTorrent ListBucketAnalyticsConfigurations ' +
  'ListBucketIntelligentTieringConfigurations ListBucketMetricsConfigurations ' +
  'ListDirectoryBuckets ListObjectAnnotations PutBucketAbac ' +
  'PutBucketAnalyticsConfiguration PutBucketIntelligentTieringConfiguration ' +
  'PutBucketMetricsConfiguration ' +
  'PutObjectAnnotation ' +
  'UpdateBucketMetadataAnnotationTableConfiguration ' +
  'UpdateBucketMetadataInventoryTableConfiguration UpdateBucketMetadataJournalTableConfiguration UpdateObjectEncryption ' +
  'WriteGetObjectResponse'
).split(' ');

const noGuard = rejected('this operation does not test it');

/**
 * Conditions and other guards of the client, for operations without a row of their own for them. S3 ignores most of them there. A client
 * that sends one relies on it, so this server refuses it.
 */
export const guardsElsewhere: Rows = {
  'x-amz-account-id': rejected('it is of S3 Control, of which the public access block of the account alone is there'),
  'x-amz-website-redirect-location': rejected('this operation stores no object'),
  ...keptWithObjects,
  ...aclElsewhere,
  'x-amz-tagging': rejected('this operation sets no tags by a header', { except: [''] }),
  ...each(lockNames, rejected('this operation creates no object')),
  'x-amz-bypass-governance-retention': rejected('this operation does not change a lock', { except: ['false'] }),
  'x-amz-mfa': rejected('a second factor is not checked'),
  ...each(
    [...Object.keys(encryption), ...Object.keys(customerKey), ...Object.keys(copySource).filter(isCopyKey)].join(' '),
    rejected('this operation does not encrypt', { code: 'InvalidArgument' }),
  ),
  ...each(Object.keys(checksums).join(' '), rejected('this operation takes no body', { code: 'InvalidRequest' })),
  ...each(
    'if-match if-unmodified-since x-amz-if-match-last-modified-time x-amz-if-match-size x-amz-if-match-initiated-time ' +
      'x-amz-mp-object-size x-amz-object-if-match x-amz-copy-source-if-match x-amz-copy-source-if-none-match ' +
      'x-amz-copy-source-if-modified-since x-amz-copy-source-if-unmodified-since x-amz-copy-source-range',
    noGuard,
  ),
  'x-amz-source-expected-bucket-owner': { kind: 'honoured', check: checkOwner },
  'x-amz-write-offset-bytes': rejected('bytes cannot be appended'),
  'x-minio-extract': rejected('archives are not unpacked', { except: ['false'] }),
  '?versionId': rejected('it is not of one version of an object', { code: 'InvalidArgument' }),
  '?partNumber': rejected('it needs an uploadId, and belongs to a part', { code: 'InvalidArgument' }),
};

/** A read may ignore a condition of a cache and send the whole object. A write that ignores one loses a guard. */
export const guardsOfWrites: Rows = each('if-none-match if-modified-since', noGuard);

/** Names of guards that this server does not know. S3 adds some each year. */
export const guardFamilies =
  /^x-(?:amz-(?:checksum-(?!mode$|type$|algorithm$)|object-lock-|grant-|if-|server-side-encryption|copy-source-if-|rename-source|expected-|source-expected-)|minio-(?:source|replication)-)/;

function isCopyKey(name: string): boolean {
  return name.includes('customer');
}
