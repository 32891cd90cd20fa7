import type { Operation } from './operation.ts';
import { abortMultipartUpload } from './operations/abort-multipart-upload.ts';
import { deleteBucketEncryption, getBucketEncryption, putBucketEncryption } from './operations/bucket-encryption.ts';
import {
  deleteBucketPolicy,
  getBucketPolicy,
  getBucketPolicyStatus,
  putBucketPolicy,
} from './operations/bucket-policy.ts';
import { deleteBucketTagging, getBucketTagging, putBucketTagging } from './operations/bucket-tagging.ts';
import { completeMultipartUpload } from './operations/complete-multipart-upload.ts';
import { copyObject } from './operations/copy-object.ts';
import { createBucket } from './operations/create-bucket.ts';
import { createMultipartUpload } from './operations/create-multipart-upload.ts';
import { deleteBucket } from './operations/delete-bucket.ts';
import { deleteObject } from './operations/delete-object.ts';
import { deleteObjects } from './operations/delete-objects.ts';
import { getBucketLocation } from './operations/get-bucket-location.ts';
import { getObject } from './operations/get-object.ts';
import { getObjectAttributes } from './operations/get-object-attributes.ts';
import { headBucket } from './operations/head-bucket.ts';
import { headObject } from './operations/head-object.ts';
import { listBuckets } from './operations/list-buckets.ts';
import { listMultipartUploads } from './operations/list-multipart-uploads.ts';
import { listObjectVersions } from './operations/list-object-versions.ts';
import { listObjects } from './operations/list-objects.ts';
import { listObjectsV2 } from './operations/list-objects-v2.ts';
import { listParts } from './operations/list-parts.ts';
import { putBucketNotification } from './operations/put-bucket-notification.ts';
import { putObject } from './operations/put-object.ts';
import * as none from './operations/unconfigured.ts';
import { uploadPart } from './operations/upload-part.ts';
import { uploadPartCopy } from './operations/upload-part-copy.ts';

export type Level = 'service' | 'bucket' | 'object';

/**
 * Method, what the path addresses, the subresources of the query (in alphabetical order), and the operation. `copy` stands for the
 * header x-amz-copy-source. What has no row is answered NotImplemented, or MethodNotAllowed where the query names no subresource.
 */
export const routes: readonly (readonly [method: string, level: Level, flags: string, operation: Operation])[] = [
  ['GET', 'service', '', listBuckets],

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

  ['GET', 'bucket', '', listObjects],
  ['GET', 'bucket', 'list-type', listObjectsV2],
  ['GET', 'bucket', 'versions', listObjectVersions],
  ['GET', 'bucket', 'uploads', listMultipartUploads],
  ['POST', 'bucket', 'delete', deleteObjects],

  ['GET', 'bucket', 'accelerate', none.getBucketAccelerate],
  ['GET', 'bucket', 'acl', none.getBucketAcl],
  ['GET', 'bucket', 'cors', none.getBucketCors],
  ['GET', 'bucket', 'lifecycle', none.getBucketLifecycle],
  ['GET', 'bucket', 'logging', none.getBucketLogging],
  ['GET', 'bucket', 'notification', none.getBucketNotification],
  ['PUT', 'bucket', 'notification', putBucketNotification],
  ['GET', 'bucket', 'object-lock', none.getObjectLockConfiguration],
  ['GET', 'bucket', 'ownershipControls', none.getBucketOwnershipControls],
  ['GET', 'bucket', 'publicAccessBlock', none.getPublicAccessBlock],
  ['GET', 'bucket', 'replication', none.getBucketReplication],
  ['GET', 'bucket', 'requestPayment', none.getBucketRequestPayment],
  ['GET', 'bucket', 'versioning', none.getBucketVersioning],
  ['GET', 'bucket', 'website', none.getBucketWebsite],

  ['GET', 'object', '', getObject],
  ['HEAD', 'object', '', headObject],
  ['PUT', 'object', '', putObject],
  ['PUT', 'object', 'copy', copyObject],
  ['DELETE', 'object', '', deleteObject],
  ['GET', 'object', 'attributes', getObjectAttributes],
  ['GET', 'object', 'acl', none.getObjectAcl],
  ['GET', 'object', 'tagging', none.getObjectTagging],
  ['GET', 'object', 'retention', none.getObjectRetention],
  ['GET', 'object', 'legal-hold', none.getObjectLegalHold],

  ['POST', 'object', 'uploads', createMultipartUpload],
  ['PUT', 'object', 'uploadId', uploadPart],
  ['PUT', 'object', 'copy uploadId', uploadPartCopy],
  ['POST', 'object', 'uploadId', completeMultipartUpload],
  ['DELETE', 'object', 'uploadId', abortMultipartUpload],
  ['GET', 'object', 'uploadId', listParts],
];
