import { aclOfNewObject } from '../acl/acl-request.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import type { Answer } from '../../http/contract/request.ts';
import type { Tags } from '../../../protocol/s3/tagging.ts';
import type { CopyObject, CopySource, Replica, ReplicaRights } from '../../objects/contract/object-layer.ts';
import { createdHeaders, quoted, xmlAnswer, slowAnswer, sourceVersion } from '../answers.ts';
import { hasAclHeaders, writeConditions, storedHeaders } from '../object-headers.ts';
import { permittedSource } from '../copy-source.ts';
import { checksumAlgorithmOf, checksumElement } from '../request-body.ts';
import { encryptionHeaders, givenKey, requestedEncryption } from '../encryption-headers.ts';
import { replicaOfRequest } from './replica-headers.ts';
import { lockOfRequest, putTagsActions, tagsOfCopy, tagsOfNew } from '../tag-and-lock-headers.ts';
import { header } from '../request.ts';
import { type Operation, type S3Call, type Explicit } from '../operation.ts';
import { answerError } from '../../http/contract/error-answer.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html */
export const copyObject: Operation = {
  name: 'CopyObject',
  action: 's3:PutObject',
  createsObject: true,
  async handle(call) {
    const { headers } = call.request;
    const replica = await replicaOfRequest(call);
    const source = await permittedSource(call);
    if (replica !== undefined) return copyAttributes(call, source, replica);
    const replace = replacesMetadata(header(headers, 'x-amz-metadata-directive'));
    const encryption = requestedEncryption(call);
    const stored = storedHeaders(headers);
    const checksumAlgorithm = checksumAlgorithmOf(headers);
    const keepsEncryption = encryption === undefined && source.customerKey === undefined;
    const storageClass = header(headers, 'x-amz-storage-class');
    const { websiteRedirect } = stored;
    const { tags, replaced } = await tagsOfCopy(call, source);
    const lock = await lockOfRequest(call);
    const acl = hasAclHeaders(headers) ? await aclOfNewObject(call) : undefined;
    const changes = [storageClass, checksumAlgorithm, websiteRedirect, lock];
    const keepsAll = !replace && keepsEncryption && !replaced;
    const changesNothing = keepsAll && changes.every((change) => change === undefined);
    const onItself = source.bucket === call.bucket && source.key === call.key && source.versionId === undefined;
    if (onItself && changesNothing) {
      throw new S3Error(
        'InvalidRequest',
        "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
      );
    }
    return slowAnswer(
      copy(call, {
        source,
        bucket: call.bucket,
        key: call.key,
        conditions: writeConditions(headers),
        tags,
        lock,
        acl,
        writer: call,
        headers: replace ? stored : undefined,
        storageClass,
        websiteRedirect,
        encryption,
        checksumAlgorithm,
        onlyId: call.grantedObject,
      }),
      (error) => answerError(error, call.request),
    );
  },
};

/** A server that replicates sends changed metadata, tags and locks as a copy of the version onto itself. */
async function copyAttributes(
  call: S3Call,
  source: CopySource,
  { versionId, modified, changes }: Replica,
): Promise<Answer> {
  const { headers } = call.request;
  const isItself = source.bucket === call.bucket && source.key === call.key;
  if (!isItself || !replacesMetadata(header(headers, 'x-amz-metadata-directive'))) {
    throw new S3Error('NotImplemented', 'A replica is not copied: a copy replaces the metadata of the version itself.');
  }
  const condition = Object.keys(headers).find((name) => /^(?:x-amz-copy-source-)?if-/.test(name));
  if (condition !== undefined) {
    throw new S3Error('NotImplemented', `The header ${condition} is not implemented for a replica.`, {
      details: { Header: condition },
    });
  }
  const { bucket, key } = call;
  const tags = (await tagsOfNew(call, 'replica')) ?? {};
  await call.objects.putReplicaAttributes({
    bucket,
    key,
    versionId,
    headers: storedHeaders(headers),
    tags,
    lock: await lockOfRequest(call),
    modified,
    changes,
    may: await replicaRights(call, versionId, tags),
    by: call,
  });
  const unread = { conditions: undefined, customerKey: undefined, onlyId: undefined, parts: undefined };
  const info = await call.objects.headObject(bucket, key, {
    ...unread,
    versionId,
    accept: undefined,
    access: undefined,
    by: undefined,
  });
  return xmlAnswer(
    xmlDocument('CopyObjectResult', [element('LastModified', info.lastModified), element('ETag', quoted(info.etag))]),
    createdHeaders(info),
  );
}

/**
 * Returns what the caller may change. The right to replicate allows less than the right to change a version: a Deny of the change itself, by
 * which an administrator guards locks and tags, holds for a replica too.
 */
async function replicaRights(call: S3Call, versionId: string, tags: Tags): Promise<ReplicaRights> {
  const resource = `${call.bucket}/${call.key}`;
  const ofVersion = { 's3:versionid': [versionId] };
  const change = Object.keys(tags).length === 0 ? 's3:DeleteObjectTagging' : putTagsActions.action;
  const unlessDenied = (action: string, versionAction: string) =>
    call.allowsVersion({ action, versionAction }, resource, versionId);
  return {
    tags: await unlessDenied(change, 's3:ReplicateTags'),
    retention: await call.allows('s3:PutObjectRetention', resource, ofVersion),
    // The right to replicate alone ends no retention of this server.
    bypassGovernance: await call.allows('s3:BypassGovernanceRetention', resource, ofVersion),
    legalHold: await call.allows('s3:PutObjectLegalHold', resource, ofVersion),
  };
}

async function copy(call: S3Call, request: Explicit<CopyObject>): Promise<Answer> {
  const info = await call.objects.copyObject(request);
  if (info.replication !== undefined) await call.replications?.waitFor(info);
  const document = xmlDocument('CopyObjectResult', [
    element('LastModified', info.lastModified),
    element('ETag', quoted(info.etag)),
    info.checksum === undefined ? undefined : element(checksumElement(info.checksum.algorithm), info.checksum.value),
    info.checksum === undefined ? undefined : element('ChecksumType', info.checksum.type),
  ]);
  return xmlAnswer(document, {
    ...createdHeaders(info),
    ...sourceVersion(info),
    ...encryptionHeaders(info.encryption, givenKey(request.encryption)),
  });
}

function replacesMetadata(directive: string | undefined): boolean {
  if (directive === undefined || directive === 'COPY') return false;
  if (directive === 'REPLACE') return true;
  throw new S3Error('InvalidArgument', 'Unknown metadata directive.', {
    details: { ArgumentName: 'x-amz-metadata-directive', ArgumentValue: directive.slice(0, 100) },
  });
}
