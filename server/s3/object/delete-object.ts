import type { DeleteConditions } from '../../objects/object-layer.ts';
import { emptyAnswer, xmlAnswer, asS3Error } from '../answers.ts';
import { deleteConditions } from '../object-headers.ts';
import type { Operation, S3Call } from '../operation.ts';
import { checkVersion } from '../request.ts';
import {
  maxDeleteDocument,
  type ObjectToDelete,
  parseDeleteObjects,
} from '../../../protocol/s3/delete-objects-request.ts';
import { checkObjectKey } from '../../../protocol/s3/names.ts';
import { element, xmlDocument, type Xml } from '../../../protocol/s3/xml-writer.ts';
import { readDocument } from '../request-body.ts';
import { mapLimit } from '../../../platform/concurrency.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObject.html */
export const deleteObject: Operation = {
  name: 'DeleteObject',
  action: 's3:DeleteObject',
  async handle(call) {
    checkVersion(call.query.get('versionId'));
    const conditions = deleteConditions(call.request.headers);
    await requireReadPermission(call, call.key, conditions);
    await call.objects.deleteObject(call.bucket, call.key, {
      conditions,
      versionId: undefined,
      bypassGovernance: false,
    });
    return emptyAnswer(204);
  },
};

/**
 * Requires the permission to read the object from a caller who deletes it under a condition, as S3 does, because the answer reveals what
 * the object is. The condition `*` reveals only that it exists.
 */
async function requireReadPermission(
  call: Pick<S3Call, 'bucket' | 'require'>,
  key: string,
  conditions: DeleteConditions | undefined,
): Promise<void> {
  if (conditions === undefined) return;
  const { ifMatch, size, lastModified } = conditions;
  const onlyExists =
    ifMatch?.every((etag) => etag === '*') === true && size === undefined && lastModified === undefined;
  if (!onlyExists) await call.require('s3:GetObject', `${call.bucket}/${key}`);
}

/** The number of concurrent deletes. The store groups commits, so that concurrent deletes cost less each. */
const concurrency = 32;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html */
export const deleteObjects: Operation = {
  name: 'DeleteObjects',
  // Each key is authorized when the body is parsed.
  action: undefined,
  async handle(call) {
    await call.requirePossible('s3:DeleteObject', `${call.bucket}/`, { below: true, keys: [] });
    const { objects, quiet } = parseDeleteObjects(await readDocument(call, maxDeleteDocument));
    await call.objects.headBucket(call.bucket);
    const results = await mapLimit(objects, concurrency, (object) => deleteOne(call, object, quiet));
    return xmlAnswer(xmlDocument('DeleteResult', results));
  },
};

async function deleteOne(
  call: S3Call,
  { key, versionId, conditions }: ObjectToDelete,
  quiet: boolean,
): Promise<Xml | undefined> {
  const version = versionId === undefined ? undefined : element('VersionId', versionId);
  try {
    checkObjectKey(key);
    checkVersion(versionId);
    await call.require('s3:DeleteObject', `${call.bucket}/${key}`);
    await requireReadPermission(call, key, conditions);
    await call.objects.deleteObject(call.bucket, key, {
      conditions,
      versionId: undefined,
      bypassGovernance: false,
    });
    return quiet ? undefined : element('Deleted', [element('Key', key), version]);
  } catch (error) {
    const refusal = asS3Error(error);
    return element('Error', [
      element('Key', key),
      version,
      element('Code', refusal.wireCode),
      element('Message', refusal.message),
    ]);
  }
}
