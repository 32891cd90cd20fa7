import type { IncomingHttpHeaders } from 'node:http';
import { removedVersionTime } from '../../../protocol/s3/bucket-replication.ts';
import { isVersionId } from '../../../protocol/s3/names.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { type Instant, millisecondsAt, readInstant } from '../../objects/contract/instant.ts';
import type { DeleteOptions, Replica } from '../../objects/contract/object-layer.ts';
import type { S3Call } from '../operation.ts';
import { header } from '../request.ts';

/**
 * The headers by which a server replicates to this one, as MinIO and Coffer send them. The first says that the request is one of a server
 * that replicates; all others need it.
 */
const requestHeader = 'x-minio-source-replication-request';
/** Another server asks for an object of this server alone: `true` for a read that it passes on, `false` for one of its own. */
const proxyHeader = 'x-minio-source-proxy-request';
const timestampHeaders = {
  tags: 'x-minio-source-replication-tagging-timestamp',
  retention: 'x-minio-source-replication-retention-timestamp',
  legalHold: 'x-minio-source-replication-legalhold-timestamp',
} as const;

/** The headers and parameters of a request that brings a version. */
export const replicaHeaders = [
  requestHeader,
  'x-amz-replication-status',
  'x-minio-source-mtime',
  'x-minio-source-etag',
  ...Object.values(timestampHeaders),
] as const;

/** The headers of a request that brings a deletion. */
export const replicaDeletionHeaders = [
  requestHeader,
  'x-amz-replication-status',
  'x-minio-source-mtime',
  'x-minio-source-deletemarker',
] as const;

function isReplicaRequest(headers: IncomingHttpHeaders): boolean {
  return header(headers, requestHeader) === 'true';
}

/** Reports whether another server asks. Its reads are never passed on, so that no loop arises. */
export function isReadOfServer(headers: IncomingHttpHeaders): boolean {
  return headers[proxyHeader] !== undefined || headers[requestHeader] !== undefined;
}

/** Refuses a header of replication in a request of another kind, and a value that is not known. */
export function checkReplicaHeader(name: string, value: string, { request: { headers } }: S3Call): void {
  const isFlag = name === requestHeader || name === proxyHeader;
  if (isFlag && value !== 'true' && value !== 'false') throw invalid(name, value, 'true or false');
  if (name === 'x-amz-replication-status' && value !== 'REPLICA') throw invalid(name, value, 'REPLICA');
  if (isFlag || isReplicaRequest(headers)) return;
  throw new S3Error('NotImplemented', `The header ${name} is not implemented without ${requestHeader}: true.`, {
    details: { ArgumentName: name },
  });
}

/** Refuses the id of a version that a client would choose. */
export function checkReplicaVersion(value: string, { request: { headers } }: S3Call): void {
  if (isReplicaRequest(headers) && isVersionId(value)) return;
  const message = isReplicaRequest(headers)
    ? 'Invalid version id specified'
    : 'This operation does not accept a version-id.';
  throw new S3Error('InvalidArgument', message, {
    details: { ArgumentName: 'versionId', ArgumentValue: value.slice(0, 100) },
  });
}

/**
 * Reads the version that a replicating server brings, and requires the permission for it; undefined for the request of a client.
 *
 * @throws S3Error AccessDenied, InvalidArgument
 */
export async function replicaOfRequest(call: S3Call): Promise<Replica | undefined> {
  const { headers } = call.request;
  if (headers[requestHeader] === undefined || !isReplicaRequest(headers)) return undefined;
  await call.require('s3:ReplicateObject', `${call.bucket}/${call.key}`);
  const versionId = call.query.get('versionId');
  if (versionId === undefined) {
    // A batch job of a MinIO brings the objects of a bucket without versions so: they are written as those of a client, with their own time.
    if ((await call.objects.getBucketVersioning(call.bucket)) === undefined) return undefined;
    throw invalid('versionId', '', 'the id of the version that is replicated');
  }
  const modified = timeOf(headers, 'x-minio-source-mtime');
  if (modified === undefined) throw invalid('x-minio-source-mtime', '', 'the time of the version that is replicated');
  const etag = header(headers, 'x-minio-source-etag')?.replaceAll('"', '');
  if (etag !== undefined && !/^[0-9a-f]{32}(?:-\d{1,5})?$/.test(etag)) {
    throw invalid('x-minio-source-etag', etag, 'an ETag');
  }
  return { versionId, modified, etag, ...changesOf(headers) };
}

/** Returns the times at which tags, retention and legal hold changed, and the last of them. */
function changesOf(headers: IncomingHttpHeaders): Pick<Replica, 'changed' | 'changes'> {
  const changes = {
    tags: instantOf(headers, timestampHeaders.tags),
    retention: instantOf(headers, timestampHeaders.retention),
    legalHold: instantOf(headers, timestampHeaders.legalHold),
  };
  const times = Object.values(changes).filter((time) => time !== undefined);
  return times.length === 0 ? {} : { changes, changed: new Date(Math.max(...times.map(millisecondsAt))) };
}

/**
 * Reads the deletion that a replicating server brings, and requires the permission for it; undefined for the request of a client.
 *
 * @throws S3Error AccessDenied, InvalidArgument
 */
export async function replicaDeletion(call: S3Call): Promise<DeleteOptions['replica']> {
  const { headers } = call.request;
  if (headers[requestHeader] === undefined || !isReplicaRequest(headers)) return undefined;
  await call.require('s3:ReplicateDelete', `${call.bucket}/${call.key}`);
  const versionId = call.query.get('versionId');
  if (versionId === undefined) throw invalid('versionId', '', 'the id of the version that is replicated');
  const modified = timeOf(headers, 'x-minio-source-mtime');
  if (header(headers, 'x-minio-source-deletemarker') !== 'true') {
    const version = timeOf(headers, removedVersionTime);
    return { marker: undefined, ...(version === undefined ? { removedAt: modified } : { modified: version }) };
  }
  if (modified === undefined) throw invalid('x-minio-source-mtime', '', 'the time of the delete marker');
  return { marker: { versionId, modified } };
}

/** A version has milliseconds here; MinIO sends nanoseconds. */
function timeOf(headers: IncomingHttpHeaders, name: string): Date | undefined {
  const time = instantOf(headers, name);
  return time === undefined ? undefined : new Date(millisecondsAt(time));
}

function instantOf(headers: IncomingHttpHeaders, name: string): Instant | undefined {
  const text = header(headers, name);
  if (text === undefined) return undefined;
  const time = readInstant(text);
  if (time === undefined) throw invalid(name, text, 'a time of RFC 3339');
  return time;
}

function invalid(name: string, value: string, what: string): S3Error {
  return new S3Error('InvalidArgument', `${name} must be ${what}.`, {
    details: { ArgumentName: name, ArgumentValue: value.slice(0, 100) },
  });
}
