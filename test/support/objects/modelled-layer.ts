import type { Chunks } from '../../../server/streams/chunks.ts';
import type {
  ListedVersion,
  ObjectInfo,
  ObjectLayer,
  ObjectTags,
  VersionListing,
} from '../../../server/objects/contract/object-layer.ts';

export type ListedVersionOfModel = Pick<ListedVersion, 'key' | 'versionId' | 'isLatest' | 'deleteMarker'>;
type Written = Pick<ObjectInfo, 'versionId' | 'etag'>;
type InfoOfModel = Pick<ObjectInfo, 'versionId' | 'etag' | 'size' | 'lock'>;

/** What the model calls and compares: the object layer, or requests to a server. */
export interface ModelledLayer {
  createBucket(...request: Parameters<ObjectLayer['createBucket']>): Promise<void>;
  putBucketVersioning(bucket: string, versioning: { readonly status: 'Enabled' | 'Suspended' }): Promise<void>;
  putObject(...request: Parameters<ObjectLayer['putObject']>): Promise<Written>;
  createMultipartUpload(
    ...request: Parameters<ObjectLayer['createMultipartUpload']>
  ): Promise<{ readonly uploadId: string }>;
  putPart(
    ...request: Parameters<ObjectLayer['putPart']>
  ): Promise<{ readonly partNumber: number; readonly etag: string }>;
  completeMultipartUpload(...request: Parameters<ObjectLayer['completeMultipartUpload']>): Promise<Written>;
  copyObject(...request: Parameters<ObjectLayer['copyObject']>): Promise<Written>;
  renameObject(...request: Parameters<ObjectLayer['renameObject']>): Promise<void>;
  deleteObject(
    ...request: Parameters<ObjectLayer['deleteObject']>
  ): Promise<{ readonly versionId?: string; readonly deleteMarker: boolean }>;
  getObject(...request: Parameters<ObjectLayer['getObject']>): Promise<{
    readonly info: InfoOfModel;
    readonly read: (range: { readonly start: number; readonly end: number }) => Buffer | Chunks;
  }>;
  headObject(...request: Parameters<ObjectLayer['headObject']>): Promise<InfoOfModel>;
  getObjectTags(...request: Parameters<ObjectLayer['getObjectTags']>): Promise<{ readonly tags: ObjectTags }>;
  putObjectTags(...request: Parameters<ObjectLayer['putObjectTags']>): Promise<unknown>;
  putObjectRetention(...request: Parameters<ObjectLayer['putObjectRetention']>): Promise<unknown>;
  putObjectLegalHold(...request: Parameters<ObjectLayer['putObjectLegalHold']>): Promise<unknown>;
  listObjectVersions(
    ...request: Parameters<ObjectLayer['listObjectVersions']>
  ): Promise<Pick<VersionListing, 'commonPrefixes' | 'next'> & { readonly versions: readonly ListedVersionOfModel[] }>;
  listObjects(
    ...request: Parameters<ObjectLayer['listObjects']>
  ): Promise<{ readonly objects: readonly { readonly key: string }[] }>;
}
