import type { Operation } from './operation.ts';
import { preflightName } from './cross-origin.ts';
import { abortMultipartUpload, completeMultipartUpload } from './multipart/complete-multipart-upload.ts';
import { deleteBucketCors, getBucketCors, putBucketCors } from './configuration/bucket-cors.ts';
import { deleteBucketEncryption, getBucketEncryption, putBucketEncryption } from './configuration/bucket-encryption.ts';
import {
  deleteBucketPolicy,
  getBucketPolicy,
  getBucketPolicyStatus,
  putBucketPolicy,
} from './configuration/bucket-policy.ts';
import {
  deletePublicAccessBlock,
  getPublicAccessBlock,
  putPublicAccessBlock,
} from './configuration/public-access-block.ts';
import { deleteBucketLifecycle, getBucketLifecycle, putBucketLifecycle } from './configuration/bucket-lifecycle.ts';
import { deleteBucketTagging, getBucketTagging, putBucketTagging } from './configuration/bucket-tagging.ts';
import { getBucketAcl, getObjectAcl, putBucketAcl, putObjectAcl } from './acl/acl.ts';
import {
  deleteBucketOwnershipControls,
  getBucketOwnershipControls,
  putBucketOwnershipControls,
} from './configuration/ownership-controls.ts';
import { copyObject } from './object/copy-object.ts';
import { createBucket, deleteBucket, getBucketLocation, headBucket } from './bucket/bucket.ts';
import { createMultipartUpload } from './multipart/create-multipart-upload.ts';
import { deleteObject, deleteObjects } from './object/delete-object.ts';
import { getObjectAttributes } from './object/object-attributes.ts';
import { getObject, headObject } from './object/read-object.ts';
import { getObjectLockConfiguration, putObjectLockConfiguration } from './configuration/object-lock.ts';
import {
  getObjectLegalHold,
  getObjectRetention,
  putObjectLegalHold,
  putObjectRetention,
} from './object/object-lock.ts';
import { deleteObjectTagging, getObjectTagging, putObjectTagging } from './object/object-tagging.ts';
import { selectObjectContent } from './object/select-object-content.ts';
import { listenBucketNotification, listenNotification } from './bucket/listen-notification.ts';
import { listBuckets } from './bucket/list-buckets.ts';
import { listMultipartUploads, listParts } from './multipart/list-uploads.ts';
import { listObjectVersions } from './bucket/list-object-versions.ts';
import { listObjects, listObjectsV2 } from './bucket/list-objects.ts';
import { getBucketVersioning, putBucketVersioning } from './configuration/bucket-versioning.ts';
import { getBucketNotification, putBucketNotification } from './configuration/bucket-notification.ts';
import {
  getBucketAccelerate,
  getBucketRequestPayment,
  putBucketAccelerate,
  putBucketRequestPayment,
} from './configuration/request-payment.ts';
import {
  deleteBucketInventory,
  getBucketInventory,
  listBucketInventories,
  putBucketInventory,
} from './configuration/bucket-inventory.ts';
import { getBucketLogging, putBucketLogging } from './configuration/bucket-logging.ts';
import { deleteBucketWebsite, getBucketWebsite, putBucketWebsite } from './configuration/bucket-website.ts';
import { postObject } from './post/post-object.ts';
import { putObject } from './object/put-object.ts';
import {
  deleteBucketReplication,
  getBucketReplication,
  getReplicationMetrics,
  getReplicationResyncStatus,
  putBucketReplication,
  cancelReplicationResync,
  startReplicationResync,
} from './configuration/bucket-replication.ts';
import { restoreObject } from './object/restore-object.ts';
import { renameObject } from './object/rename-object.ts';
import { uploadPart, uploadPartCopy } from './multipart/upload-part.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { rejectedOperation } from '../../protocol/s3/requests/rejected-operation.ts';
import type { Query } from './request.ts';

export type Level = 'service' | 'bucket' | 'object';

/**
 * Each row: method, level of the path, subresources of the query in alphabetical order, operation. `copy` means the header
 * x-amz-copy-source. `rejectedOperation` has the answer to a request without a row.
 */
export const routes: readonly (readonly [method: string, level: Level, flags: string, operation: Operation])[] = [
  ['GET', 'service', '', listBuckets],
  ['GET', 'service', 'events', listenNotification],

  ['PUT', 'bucket', '', createBucket],
  ['HEAD', 'bucket', '', headBucket],
  ['DELETE', 'bucket', '', deleteBucket],
  ['GET', 'bucket', 'location', getBucketLocation],
  ['GET', 'bucket', 'encryption', getBucketEncryption],
  ['PUT', 'bucket', 'encryption', putBucketEncryption],
  ['DELETE', 'bucket', 'encryption', deleteBucketEncryption],
  ['GET', 'bucket', 'policy', getBucketPolicy],
  ['PUT', 'bucket', 'policy', putBucketPolicy],
  ['DELETE', 'bucket', 'policy', deleteBucketPolicy],
  ['GET', 'bucket', 'policyStatus', getBucketPolicyStatus],
  ['GET', 'bucket', 'tagging', getBucketTagging],
  ['PUT', 'bucket', 'tagging', putBucketTagging],
  ['DELETE', 'bucket', 'tagging', deleteBucketTagging],

  ['GET', 'bucket', 'cors', getBucketCors],
  ['PUT', 'bucket', 'cors', putBucketCors],
  ['DELETE', 'bucket', 'cors', deleteBucketCors],

  ['GET', 'bucket', 'versioning', getBucketVersioning],
  ['PUT', 'bucket', 'versioning', putBucketVersioning],
  ['GET', 'bucket', 'object-lock', getObjectLockConfiguration],
  ['PUT', 'bucket', 'object-lock', putObjectLockConfiguration],

  ['GET', 'bucket', '', listObjects],
  ['GET', 'bucket', 'list-type', listObjectsV2],
  ['GET', 'bucket', 'versions', listObjectVersions],
  ['GET', 'bucket', 'uploads', listMultipartUploads],
  ['POST', 'bucket', '', postObject],
  ['POST', 'bucket', 'delete', deleteObjects],

  ['GET', 'bucket', 'accelerate', getBucketAccelerate],
  ['PUT', 'bucket', 'accelerate', putBucketAccelerate],
  ['GET', 'bucket', 'acl', getBucketAcl],
  ['PUT', 'bucket', 'acl', putBucketAcl],
  ['GET', 'bucket', 'inventory', listBucketInventories],
  ['GET', 'bucket', 'id inventory', getBucketInventory],
  ['PUT', 'bucket', 'id inventory', putBucketInventory],
  ['DELETE', 'bucket', 'id inventory', deleteBucketInventory],
  ['GET', 'bucket', 'lifecycle', getBucketLifecycle],
  ['PUT', 'bucket', 'lifecycle', putBucketLifecycle],
  ['DELETE', 'bucket', 'lifecycle', deleteBucketLifecycle],
  ['GET', 'bucket', 'logging', getBucketLogging],
  ['PUT', 'bucket', 'logging', putBucketLogging],
  ['GET', 'bucket', 'events', listenBucketNotification],
  ['GET', 'bucket', 'notification', getBucketNotification],
  ['PUT', 'bucket', 'notification', putBucketNotification],
  ['GET', 'bucket', 'ownershipControls', getBucketOwnershipControls],
  ['PUT', 'bucket', 'ownershipControls', putBucketOwnershipControls],
  ['DELETE', 'bucket', 'ownershipControls', deleteBucketOwnershipControls],
  ['GET', 'bucket', 'publicAccessBlock', getPublicAccessBlock],
  ['PUT', 'bucket', 'publicAccessBlock', putPublicAccessBlock],
  ['DELETE', 'bucket', 'publicAccessBlock', deletePublicAccessBlock],
  ['GET', 'bucket', 'replication', getBucketReplication],
  ['PUT', 'bucket', 'replication', putBucketReplication],
  ['DELETE', 'bucket', 'replication', deleteBucketReplication],
  ['GET', 'bucket', 'replication-metrics', getReplicationMetrics],
  ['PUT', 'bucket', 'replication-reset', startReplicationResync],
  ['PUT', 'bucket', 'replication-reset-cancel', cancelReplicationResync],
  ['GET', 'bucket', 'replication-reset-status', getReplicationResyncStatus],
  ['GET', 'bucket', 'requestPayment', getBucketRequestPayment],
  ['PUT', 'bucket', 'requestPayment', putBucketRequestPayment],
  ['GET', 'bucket', 'website', getBucketWebsite],
  ['PUT', 'bucket', 'website', putBucketWebsite],
  ['DELETE', 'bucket', 'website', deleteBucketWebsite],

  ['GET', 'object', '', getObject],
  ['HEAD', 'object', '', headObject],
  ['PUT', 'object', '', putObject],
  ['PUT', 'object', 'copy', copyObject],
  ['PUT', 'object', 'renameObject', renameObject],
  ['DELETE', 'object', '', deleteObject],
  ['GET', 'object', 'attributes', getObjectAttributes],
  ['GET', 'object', 'acl', getObjectAcl],
  ['PUT', 'object', 'acl', putObjectAcl],
  ['GET', 'object', 'tagging', getObjectTagging],
  ['PUT', 'object', 'tagging', putObjectTagging],
  ['DELETE', 'object', 'tagging', deleteObjectTagging],
  ['GET', 'object', 'retention', getObjectRetention],
  ['PUT', 'object', 'retention', putObjectRetention],
  ['GET', 'object', 'legal-hold', getObjectLegalHold],
  ['PUT', 'object', 'legal-hold', putObjectLegalHold],

  ['POST', 'object', 'select', selectObjectContent],
  ['POST', 'object', 'restore', restoreObject],

  ['POST', 'object', 'uploads', createMultipartUpload],
  ['PUT', 'object', 'uploadId', uploadPart],
  ['PUT', 'object', 'copy uploadId', uploadPartCopy],
  ['POST', 'object', 'uploadId', completeMultipartUpload],
  ['DELETE', 'object', 'uploadId', abortMultipartUpload],
  ['GET', 'object', 'uploadId', listParts],
];

/**
 * Query parameters that select an operation, also those without a row in the table. The server must never treat such a request as a plain
 * read.
 */
const subresources: ReadonlySet<string> = new Set(
  (
    'abac accelerate acl analytics annotation append attributes cors delete encryption events intelligent-tiering inventory lambdaArn legal-hold ' +
    'lifecycle list-type location logging metadataAnnotationTable metadataConfiguration metadataInventoryTable ' +
    'metadataJournalTable metadataTable metrics notification object-lock ownershipControls ' +
    'policy policyStatus publicAccessBlock renameObject replication replication-check replication-metrics replication-reset ' +
    'replication-reset-cancel replication-reset-status requestPayment restore retention select session tagging torrent uploadId uploads versioning versions ' +
    'website'
  ).split(' '),
);

/** Parameters that may have no value. */
const parameters: ReadonlySet<string> = new Set(
  (
    'continuation-token delimiter encoding-type fetch-owner key-marker marker max-buckets max-keys max-parts max-uploads metadata ' +
    'partNumber part-number-marker ping prefix select-type start-after suffix upload-id-marker version-id-marker versionId x-id bucket-region'
  ).split(' '),
);

const table = new Map<string, Operation>(
  routes.map(([method, level, flags, operation]) => [`${method} ${level} ${flags}`, operation]),
);

/**
 * Returns the operation that a request asks for.
 *
 * @throws S3Error NotImplemented for what this server does not have, MethodNotAllowed for other methods, InvalidArgument and InvalidRequest
 * for subresources that do not belong together, or not to the path
 */
export function findOperation(method: string, level: Level, query: Query, isCopy: boolean): Operation {
  const flags = flagsOf(query, isCopy && method === 'PUT' && level === 'object');
  const operation = table.get(`${method} ${level} ${flags}`);
  if (operation !== undefined) return operation;
  throw rejectedOperation({ method, level, flags: flags.split(' ').filter(Boolean), served: served(level, flags) });
}

function served(level: Level, flags: string): readonly string[] {
  // The routes of a configuration with an ID are of the same subresource.
  const same = [flags, flags.replace('id ', ''), `id ${flags}`];
  return [...new Set(routes.filter(([, of, names]) => of === level && same.includes(names)).map(([method]) => method))];
}

function flagsOf(query: Query, isCopy: boolean): string {
  if (query.size === 0) return isCopy ? 'copy' : '';
  const flags = isCopy ? ['copy'] : [];
  for (const [name, value] of query) {
    // The ID of a configuration selects an operation only together with its subresource.
    if (subresources.has(name) || (name === 'id' && query.has('inventory'))) flags.push(name);
    else if (value === '' && isUnknown(name)) throw new S3Error('NotImplemented', unknown(name));
  }
  if (flags.length < 2) return flags[0] ?? '';
  // As in S3, it only chooses between the two listings of objects.
  return flags
    .filter((flag) => flag !== 'list-type')
    .sort()
    .join(' ');
}

/** A name without a value looks like a subresource. S3 also ignores an unknown parameter with a value. */
function isUnknown(name: string): boolean {
  return !parameters.has(name) && !/^(?:x-amz-|response-)/i.test(name);
}

function unknown(name: string): string {
  return `The subresource "${name.slice(0, 100)}" is not implemented.`;
}

/** The operations that have counters. All threads use the same order. */
export const operationNames: readonly string[] = [
  ...new Set([...routes.map(([, , , { name }]) => name), preflightName]),
];
