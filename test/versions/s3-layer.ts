import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectRetentionCommand,
  PutObjectTaggingCommand,
  RenameObjectCommand,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { S3Error, type S3ErrorCode } from '../../protocol/s3/s3-error.ts';
import { chunksOf } from '../../server/objects/contract/body-source.ts';
import type { ObjectLock, PutObject, Retention } from '../../server/objects/contract/object-layer.ts';
import type { ModelledLayer } from '../support/objects/modelled-layer.ts';
import { s3Client } from '../support/server/s3-client.ts';
import type { ServerAccess } from '../support/server/start-server.ts';
import { versionLister } from './list-versions.ts';

/**
 * The operations of the model as requests to a server. The model has one bucket; here it has the name `bucket`. A refusal is an error
 * with the code of the answer.
 */
export function s3Layer(
  server: ServerAccess,
  bucket: string,
): { readonly layer: ModelledLayer; readonly close: () => void } {
  const s3 = s3Client(server);
  const at = (Key: string, VersionId?: string) => ({ Bucket: bucket, Key, VersionId });
  const lister = versionLister({ ...server, endpoint: server.s3, bucket });
  const layer = withCodes<ModelledLayer>({
    async createBucket(_bucket, { objectLock = false }) {
      await s3.send(new CreateBucketCommand({ Bucket: bucket, ObjectLockEnabledForBucket: objectLock }));
    },
    async putBucketVersioning(_bucket, { status }) {
      await s3.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration: { Status: status } }));
    },
    async putObject(put) {
      const written = await s3.send(
        new PutObjectCommand({ ...at(put.key), ...(await bodyOf(put)), ...headersOf(put) }),
      );
      return infoOf(written);
    },
    async createMultipartUpload(create) {
      const { UploadId = '' } = await s3.send(
        new CreateMultipartUploadCommand({ ...at(create.key), ...headersOf(create) }),
      );
      return { uploadId: UploadId };
    },
    async putPart({ partNumber, uploadId, ...put }) {
      const part = { ...at(put.key), UploadId: uploadId, PartNumber: partNumber, ...(await bodyOf(put)) };
      const { ETag } = await s3.send(new UploadPartCommand(part));
      return { partNumber, etag: withoutQuotes(ETag) };
    },
    async completeMultipartUpload({ key, uploadId, parts }) {
      const Parts = parts.map(({ partNumber, etag }) => ({ PartNumber: partNumber, ETag: etag }));
      const completed = await s3.send(
        new CompleteMultipartUploadCommand({ ...at(key), UploadId: uploadId, MultipartUpload: { Parts } }),
      );
      return infoOf(completed);
    },
    async copyObject({ source, key }) {
      const version = source.versionId === undefined ? '' : `?versionId=${source.versionId}`;
      const CopySource = `${bucket}/${encodeURIComponent(source.key)}${version}`;
      const { VersionId, CopyObjectResult } = await s3.send(new CopyObjectCommand({ ...at(key), CopySource }));
      return infoOf({ VersionId, ETag: CopyObjectResult?.ETag });
    },
    async renameObject({ from, to, fromConditions, toConditions, clientToken }) {
      const [fromEtag, toEtag] = [fromConditions.ifMatch?.[0], toConditions.ifMatch?.[0]];
      const renamed = {
        ...at(to),
        RenameSource: encodeURIComponent(from),
        ...(fromEtag !== undefined && { SourceIfMatch: `"${fromEtag}"` }),
        ...(toEtag !== undefined && { DestinationIfMatch: `"${toEtag}"` }),
        ...(toConditions.ifNoneMatch !== undefined && { DestinationIfNoneMatch: '*' }),
        ...(clientToken !== undefined && { ClientToken: clientToken }),
      };
      await s3.send(new RenameObjectCommand(renamed));
    },
    async deleteObject(_bucket, key, options = {}) {
      const { versionId, bypassGovernance } = options;
      const removal = { ...at(key, versionId), ...(bypassGovernance === true && { BypassGovernanceRetention: true }) };
      const { VersionId, DeleteMarker = false } = await s3.send(new DeleteObjectCommand(removal));
      return { versionId: VersionId ?? 'null', deleteMarker: DeleteMarker };
    },
    async getObject(_bucket, key, { versionId } = {}) {
      const { Body, ...found } = await s3.send(new GetObjectCommand(at(key, versionId)));
      const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
      return { info: infoOf({ ...found, size: bytes.length }), read: () => bytes };
    },
    async headObject(_bucket, key, { versionId } = {}) {
      return infoOf(await s3.send(new HeadObjectCommand(at(key, versionId))));
    },
    async getObjectTags(_bucket, key, versionId) {
      const { TagSet } = await s3.send(new GetObjectTaggingCommand(at(key, versionId)));
      return { tags: Object.fromEntries((TagSet ?? []).map(({ Key = '', Value = '' }) => [Key, Value])) };
    },
    async putObjectTags(_bucket, key, tags, versionId) {
      const TagSet = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
      await s3.send(new PutObjectTaggingCommand({ ...at(key, versionId), Tagging: { TagSet } }));
      return {};
    },
    async putObjectRetention(_bucket, key, { versionId, retention, bypassGovernance }) {
      const Retention = retention && { Mode: retention.mode, RetainUntilDate: retention.until };
      const bypass = bypassGovernance && { BypassGovernanceRetention: true };
      await s3.send(new PutObjectRetentionCommand({ ...at(key, versionId), Retention: Retention ?? {}, ...bypass }));
      return {};
    },
    async putObjectLegalHold(_bucket, key, { versionId, legalHold }) {
      const LegalHold = { Status: legalHold ? 'ON' : 'OFF' } as const;
      await s3.send(new PutObjectLegalHoldCommand({ ...at(key, versionId), LegalHold }));
      return {};
    },
    listObjectVersions: (request) => lister.list(request),
    async listObjects() {
      const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket: bucket }));
      return { objects: (Contents ?? []).map(({ Key = '' }) => ({ key: Key })) };
    },
  });
  return {
    layer,
    close() {
      s3.destroy();
      lister.close();
    },
  };
}

async function bodyOf({ body }: Pick<PutObject, 'body'>): Promise<{ Body: Buffer }> {
  return { Body: Buffer.concat(await Array.fromAsync(chunksOf(body))) };
}

function headersOf({ conditions, tags, lock }: Pick<PutObject, 'conditions' | 'tags' | 'lock'>) {
  const { retention, legalHold } = lock ?? {};
  return {
    ...(conditions?.ifMatch?.[0] !== undefined && { IfMatch: `"${conditions.ifMatch[0]}"` }),
    ...(conditions?.ifNoneMatch?.[0] !== undefined && { IfNoneMatch: conditions.ifNoneMatch[0] }),
    ...(tags && { Tagging: new URLSearchParams(tags).toString() }),
    ...(retention && { ObjectLockMode: retention.mode, ObjectLockRetainUntilDate: retention.until }),
    ...(legalHold !== undefined && { ObjectLockLegalHoldStatus: legalHold ? ('ON' as const) : ('OFF' as const) }),
  };
}

interface Found {
  readonly VersionId?: string | undefined;
  readonly ETag?: string | undefined;
  readonly ObjectLockMode?: string | undefined;
  readonly ObjectLockRetainUntilDate?: Date | undefined;
  readonly ObjectLockLegalHoldStatus?: string | undefined;
  readonly size?: number;
}

function infoOf(found: Found): Awaited<ReturnType<ModelledLayer['headObject']>> {
  const { VersionId, ETag, ObjectLockMode, ObjectLockRetainUntilDate: until, ObjectLockLegalHoldStatus: hold } = found;
  const mode: Retention['mode'] = ObjectLockMode === 'COMPLIANCE' ? 'COMPLIANCE' : 'GOVERNANCE';
  const lock: ObjectLock = {
    ...(until && { retention: { mode, until } }),
    ...(hold !== undefined && { legalHold: hold === 'ON' }),
  };
  return {
    etag: withoutQuotes(ETag),
    size: found.size ?? 0,
    lock,
    ...(VersionId !== undefined && { versionId: VersionId }),
  };
}

function withoutQuotes(etag = ''): string {
  return etag.replaceAll('"', '');
}

/** Turns the errors of the SDK into those that the object layer throws. */
function withCodes<T extends object>(layer: T): T {
  return new Proxy(layer, {
    get(target, name) {
      const method = Reflect.get(target, name) as (...args: readonly unknown[]) => Promise<unknown>;
      return async (...args: readonly unknown[]) => {
        try {
          return await method(...args);
        } catch (error) {
          if (error instanceof S3ServiceException) throw new S3Error(error.name as S3ErrorCode, error.message);
          throw error;
        }
      };
    },
  });
}
