import type { BlobId } from '../store/blob-store.ts';
import { OutcomeUnknown } from '../store/commit-once.ts';
import { guardBucket } from './bucket-guard.ts';
import { checkObjectKey } from './check-object-key.ts';
import { commitChange } from './commit-change.ts';
import { checkWriteConditions } from './conditions.ts';
import { decideEncryption } from './decide-encryption.ts';
import type { Environment } from './environment.ts';
import { findObject } from './find-object.ts';
import { newId } from './new-id.ts';
import { makeObjectKey } from './object-keys.ts';
import type { ObjectInfo, PutObject } from './object-layer.ts';
import { ownBlob } from './own-blob.ts';
import { discardBlob, receiveBody, type ReceivedBody } from './receive-body.ts';
import { encodeBody } from './records/body-record.ts';
import { getBucket } from './records/bucket-record.ts';
import { type Body, objectInfo, type ObjectRecord } from './records/object-record.ts';
import { encodeRecord } from './records/record-format.ts';
import { recordKeys } from './records/record-keys.ts';
import { supersedeObject } from './supersede-object.ts';

/** Body, durable; one commit; answer. A crash between leaves a blob that the sweeper finds, and nothing that can be seen. */
export async function putObject(environment: Environment, request: PutObject): Promise<ObjectInfo> {
  const { bucket, key } = request;
  checkObjectKey(bucket, key);
  await environment.checkSpace();
  const { record: bucketRecord } = await getBucket(environment.records, bucket);
  if (request.conditions !== undefined) {
    // Asked again by the commit; asked here to refuse before the body comes.
    checkWriteConditions(request.conditions, (await findObject(environment, bucket, key))?.record);
  }
  const id = newId(environment.clock(), environment.random);
  const chosen = decideEncryption({
    requested: request.encryption,
    bucketDefault: bucketRecord.encryption,
    autoEncryption: environment.autoEncryption,
    defaultKey: environment.keys.defaultKey,
  });
  const made = chosen && (await makeObjectKey(environment, chosen, { bucket, key, id }));
  const received = await receiveBody(environment, {
    body: request.body,
    size: request.size,
    digests: request.digests,
    md5: chosen?.scheme !== 'SSE-KMS',
    objectKey: made?.objectKey,
    inlineLimit: environment.inlineLimit,
  });
  const record: ObjectRecord = {
    id,
    modified: environment.clock(),
    size: request.size,
    etag: etagOf(environment, received, chosen?.scheme),
    headers: request.headers,
    body: bodyOf(received),
    ...(made && { sealed: made.sealed }),
    ...(received.digests.checksum && { checksum: received.digests.checksum }),
  };
  const blob = received.stored.kind === 'blob' ? received.stored.blob : undefined;
  try {
    await commitObject(environment, request, record, received, blob);
  } catch (error) {
    if (blob !== undefined && !(error instanceof OutcomeUnknown)) await discardBlob(environment, blob);
    throw error;
  }
  return objectInfo(bucket, key, record);
}

function commitObject(
  environment: Environment,
  request: PutObject,
  record: ObjectRecord,
  received: ReceivedBody,
  blob: BlobId | undefined,
): Promise<void> {
  const { bucket, key, conditions } = request;
  const value = encodeRecord(record);
  const inline =
    received.stored.kind === 'inline'
      ? [{ key: recordKeys.inline(bucket, key), value: encodeBody(record.id, received.stored.bytes) }]
      : [];
  return commitChange(environment, async () => {
    const [stored, current] = await Promise.all([
      getBucket(environment.records, bucket),
      findObject(environment, bucket, key),
    ]);
    checkWriteConditions(conditions, current?.record);
    const guard = guardBucket(bucket, stored);
    const superseded = await supersedeObject(environment, bucket, key, current, record.body.kind);
    const owned = blob === undefined ? undefined : await ownBlob(environment, blob, record.id);
    return {
      batch: {
        expect: [...guard.expect, ...superseded.expect, ...(owned?.expect ?? [])],
        put: [
          ...guard.put,
          ...superseded.put,
          ...(owned?.put ?? []),
          { key: recordKeys.object(bucket, key), value },
          ...inline,
        ],
        delete: superseded.delete,
      },
      result: undefined,
    };
  });
}

/** With SSE-KMS the ETag must not tell the MD5 of the plaintext; clients take any 32 hexadecimal digits. */
export function etagOf(
  environment: Environment,
  received: ReceivedBody,
  scheme: 'SSE-S3' | 'SSE-KMS' | undefined,
): string {
  const { md5 } = received.digests;
  return (scheme === 'SSE-KMS' || md5 === undefined ? environment.random(16) : md5).toString('hex');
}

function bodyOf(received: ReceivedBody): Body {
  const { stored, protection } = received;
  return stored.kind === 'inline'
    ? { kind: 'inline', ...protection }
    : { kind: 'blob', blob: stored.blob, ...protection };
}
