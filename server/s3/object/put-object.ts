import { aclOfNewObject } from '../acl/acl-request.ts';
import type { PutObject } from '../../objects/contract/object-layer.ts';
import { lockOfRequest, tagsOfNew } from '../tag-and-lock-headers.ts';
import { createdHeaders, emptyAnswer, quoted } from '../answers.ts';
import { hasAclHeaders, writeConditions, storedHeaders } from '../object-headers.ts';
import { checksumHeaders, expectedDigests, uploadSize } from '../request-body.ts';
import { encryptionHeaders, givenKey, requestedEncryption } from '../encryption-headers.ts';
import { replicaOfRequest } from './replica-headers.ts';
import type { Operation, S3Call } from '../operation.ts';

/** The limit of MinIO. AWS limits a single upload to 5 GiB. */
const maxObject = 5 * 1024 ** 4;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html */
export const putObject: Operation = {
  name: 'PutObject',
  action: 's3:PutObject',
  createsObject: true,
  async handle(call) {
    return emptyAnswer(200, await storeObject(call, (of) => uploadSize(of, maxObject)));
  },
};

/** Stores the object that the headers and the body of a call describe, and returns the headers of the answer. */
export async function storeObject(
  call: S3Call,
  sizeOf: (call: S3Call) => PutObject['size'],
  operation: 'Put' | 'Post' = 'Put',
): Promise<Readonly<Record<string, string>> & { readonly etag: string }> {
  const { headers } = call.request;
  const encryption = requestedEncryption(call);
  const replica =
    headers['x-minio-source-replication-request'] === undefined ? undefined : await replicaOfRequest(call);
  const permittedTags = tagsOfNew(call, replica === undefined ? 'client' : 'replica');
  const tags = permittedTags && (await permittedTags);
  const permittedLock = lockOfRequest(call);
  const lock = permittedLock && (await permittedLock);
  const acl = hasAclHeaders(headers) ? await aclOfNewObject(call) : undefined;
  const digests = expectedDigests(headers, call.auth.trailing);
  const { checksum, trailing, compute } = digests;
  const hasChecksum = checksum !== undefined || trailing !== undefined || compute !== undefined;
  const info = await call.objects.putObject({
    bucket: call.bucket,
    key: call.key,
    size: sizeOf(call),
    // S3 computes a checksum of its own where the client sends none.
    digests: hasChecksum ? digests : { ...digests, compute: 'CRC64NVME' },
    headers: storedHeaders(headers),
    encryption,
    conditions: writeConditions(headers),
    body: call.auth.body,
    tags,
    lock,
    acl,
    writer: call,
    onlyId: call.grantedObject,
    operation,
    replica,
  });
  if (info.replication !== undefined) await call.replications?.waitFor(info);
  return {
    etag: quoted(info.etag),
    ...createdHeaders(info),
    ...encryptionHeaders(info.encryption, givenKey(encryption)),
    ...checksumHeaders(info.checksum),
  };
}
