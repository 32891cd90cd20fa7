import { OutcomeUnknown } from '../../store/batch.ts';
import { guardBucket } from '../records/bucket-record.ts';
import { checkObjectKey, recordKeys } from '../records/record-format.ts';
import { commitChange, newId, claimBlob, replaceObject } from './commit-change.ts';
import { checkWriteConditions, type Place, readPlace } from './get-object.ts';
import { decideEncryption, hasPlainEtag, guardKey } from '../encryption/decide-encryption.ts';
import { comparable, sealDigests } from '../encryption/digests.ts';
import type { ObjectContext } from '../context.ts';
import { makeObjectKey } from '../encryption/object-keys.ts';
import type { ObjectEncryption, ObjectInfo, PutObject } from '../object-layer.ts';
import { discardBlob, receiveBody, type ReceivedBody } from '../bodies/receive-body.ts';
import { encodeBody, type Body, encodeObject, objectInfo, type ObjectRecord } from '../records/object-record.ts';
import type { Digests } from '../records/stored-digests.ts';

/**
 * Makes the body durable, commits once, and answers. A crash in between leaves a blob that garbage collection removes, and nothing that
 * clients can see.
 */
export async function putObject(context: ObjectContext, request: PutObject): Promise<ObjectInfo> {
  const { bucket, key } = request;
  checkObjectKey(bucket, key);
  const checked = context.checkSpace(request.size <= context.inlineLimit ? 0 : request.size);
  if (checked !== undefined) await checked;
  const place = await readPlace(context, bucket, key);
  // The commit checks the conditions again. This check refuses a request before its body comes.
  const found = comparable(context, bucket, place.current?.record, request.conditions);
  checkWriteConditions(request.conditions, found instanceof Promise ? await found : found);
  const id = newId(context.clock(), context.random);
  const chosen = decideEncryption({
    requested: request.encryption,
    bucketDefault: place.stored.record.encryption,
    autoEncryption: context.autoEncryption,
    defaultKey: context.keys.defaultKey,
  });
  const made = chosen && (await makeObjectKey(context, chosen, { bucket, key, id }));
  const received = await receiveBody(context, {
    body: request.body,
    size: request.size,
    digests: request.digests,
    md5: hasPlainEtag(chosen?.scheme),
    objectKey: made?.objectKey,
    inlineLimit: context.inlineLimit,
  });
  const blob = received.stored.kind === 'blob' ? received.stored.blob : undefined;
  const digests = digestsOf(context, received, chosen?.scheme);
  let record: ObjectRecord;
  try {
    const kept = made ? await sealDigests(context, { bucket, id, part: 0 }, digests, made) : digests;
    record = {
      id,
      modified: context.clock(),
      size: request.size,
      etag: kept.etag,
      headers: request.headers,
      body: bodyOf(received),
      ...(made && { sealed: made.sealed }),
      ...(kept.checksum && { checksum: kept.checksum }),
    };
    // A large body takes time, in which the object has likely changed: read again. A small one came with its request.
    await commitObject(context, request, record, received, blob === undefined ? place : undefined);
  } catch (error) {
    if (blob !== undefined && !(error instanceof OutcomeUnknown)) await discardBlob(context, blob);
    throw error;
  }
  return objectInfo(bucket, key, record, digests);
}

function commitObject(
  context: ObjectContext,
  request: PutObject,
  record: ObjectRecord,
  { stored }: ReceivedBody,
  place: Place | undefined,
): Promise<void> {
  const { bucket, key, conditions } = request;
  const value = encodeObject(record);
  const inline =
    stored.kind === 'inline'
      ? { key: recordKeys.inline(bucket, key), value: encodeBody(record.id, stored.bytes) }
      : undefined;
  let known = place;
  let attempt = 0;
  return commitChange(context, async () => {
    attempt += 1;
    const found = known ?? (await readPlace(context, bucket, key));
    // Used once: an attempt after a conflict must read again.
    known = undefined;
    const current = comparable(context, bucket, found.current?.record, conditions);
    checkWriteConditions(conditions, current instanceof Promise ? await current : current);
    const guard = guardBucket(bucket, found.stored);
    const keyGuard = await guardKey(context, record.sealed, attempt);
    const replaced = await replaceObject(context, bucket, key, found.current, record.body.kind);
    const claimed = stored.kind === 'blob' ? await claimBlob(context, stored, record.id) : undefined;
    const put = [...guard.put, ...replaced.put, ...(claimed?.put ?? []), { key: found.objectKey, value }];
    if (inline !== undefined) put.push(inline);
    const expect = [...guard.expect, ...keyGuard, ...replaced.expect, ...(claimed?.expect ?? [])];
    return { batch: { expect, put, delete: replaced.delete }, result: undefined };
  });
}

/** Clients accept any 32 hexadecimal digits as an ETag that is not the MD5. */
export function digestsOf(
  context: ObjectContext,
  { digests: { md5, checksum } }: ReceivedBody,
  scheme: ObjectEncryption['scheme'] | undefined,
): Digests {
  const etag = md5 !== undefined && hasPlainEtag(scheme) ? md5 : context.random(16);
  return { etag: etag.toString('hex'), ...(checksum && { checksum }) };
}

function bodyOf(received: ReceivedBody): Body {
  const { stored, protection } = received;
  return stored.kind === 'inline'
    ? { kind: 'inline', ...protection }
    : { kind: 'blob', blob: stored.blob, ...protection };
}
