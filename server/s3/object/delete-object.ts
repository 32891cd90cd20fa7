import type { DeleteConditions, DeletedObject } from '../../objects/contract/object-layer.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import { deleteConditions } from '../object-headers.ts';
import { type Operation, readActions, type S3Call } from '../operation.ts';
import { deleteActions, forceDelete, isForceDelete } from './force-delete.ts';
import { checkVersion } from '../request.ts';
import {
  maxDeleteDocument,
  type ObjectToDelete,
  parseDeleteObjects,
} from '../../../protocol/s3/requests/delete-objects-request.ts';
import { checkObjectKey, isVersionId } from '../../../protocol/s3/names.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { element, xmlDocument, type Xml } from '../../../protocol/s3/xml-writer.ts';
import { replicaDeletion } from './replica-headers.ts';
import { bypassesGovernance } from '../tag-and-lock-headers.ts';
import { readDocument } from '../request-body.ts';
import { mapLimit } from '../../../platform/async/concurrency.ts';
import { asS3Error } from '../../http/contract/error-answer.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObject.html */
export const deleteObject: Operation = {
  name: 'DeleteObject',
  ...deleteActions,
  async handle(call) {
    if (isForceDelete(call)) {
      await forceDelete(call);
      return emptyAnswer(204);
    }
    const versionId = call.query.get('versionId');
    const conditions = deleteConditions(call.request.headers);
    await requireReadPermission(call, { key: call.key, versionId, conditions });
    const replica = await replicaDeletion(call);
    const deleted = await call.objects.deleteObject(call.bucket, call.key, {
      conditions,
      // The version of a delete marker that is replicated is not there yet.
      versionId: replica?.marker === undefined ? versionId : undefined,
      bypassGovernance: await bypassesGovernance(call, call.key, versionId),
      onlyId: call.grantedObject,
      by: call,
      replica,
    });
    return emptyAnswer(204, {
      ...(deleted.versionId !== undefined && { 'x-amz-version-id': deleted.versionId }),
      ...(deleted.deleteMarker && { 'x-amz-delete-marker': 'true' }),
    });
  },
};

/**
 * Requires the permission to read the object from a caller who deletes it under a condition, as S3 does, because the answer reveals what
 * the object is. The condition `*` reveals only that it exists.
 */
async function requireReadPermission(
  call: Pick<S3Call, 'bucket' | 'requireVersion'>,
  {
    key,
    versionId,
    conditions,
  }: {
    readonly key: string;
    readonly versionId?: string | undefined;
    readonly conditions?: DeleteConditions | undefined;
  },
): Promise<void> {
  if (conditions === undefined) return;
  const { ifMatch, size, lastModified } = conditions;
  const onlyExists =
    ifMatch?.every((etag) => etag === '*') === true && size === undefined && lastModified === undefined;
  if (!onlyExists) await call.requireVersion(readActions, `${call.bucket}/${key}`, versionId);
}

/** The number of concurrent deletes. The store groups commits, so that concurrent deletes cost less each. */
const concurrency = 32;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html */
export const deleteObjects: Operation = {
  name: 'DeleteObjects',
  // Each key is authorized when the body is parsed.
  action: undefined,
  async handle(call) {
    const { action, versionAction } = deleteActions;
    await call.requirePossible([action, versionAction], `${call.bucket}/`, { below: true, keys: ['s3:versionid'] });
    const { objects, quiet } = parseDeleteObjects(await readDocument(call, maxDeleteDocument));
    await call.objects.headBucket(call.bucket);
    const results = await mapLimit(objects, concurrency, (object) => deleteOne(call, object, quiet));
    return xmlAnswer(xmlDocument('DeleteResult', results));
  },
};

async function deleteOne(call: S3Call, object: ObjectToDelete, quiet: boolean): Promise<Xml | undefined> {
  const { key, versionId, conditions } = object;
  try {
    checkObjectKey(key);
    checkVersion(versionId);
    const onlyId = await call.requireVersion(deleteActions, `${call.bucket}/${key}`, versionId);
    // DeleteObject answers InvalidArgument. S3 differs here.
    if (versionId !== undefined && !isVersionId(versionId)) throw new S3Error('NoSuchVersion');
    await requireReadPermission(call, object);
    const deleted = await call.objects.deleteObject(call.bucket, key, {
      conditions,
      versionId,
      bypassGovernance: await bypassesGovernance(call, key, versionId),
      onlyId,
      by: call,
      replica: undefined,
    });
    call.request.audit?.addObject({ key, versionId: deleted.versionId ?? versionId });
    return quiet ? undefined : element('Deleted', [element('Key', key), ...versionElements(versionId, deleted)]);
  } catch (error) {
    const refusal = asS3Error(error);
    call.request.audit?.addObject({ key, versionId, refusal: refusal.wireCode });
    return element('Error', [
      element('Key', key),
      versionId === undefined ? undefined : element('VersionId', versionId),
      element('Code', refusal.wireCode),
      element('Message', refusal.message),
    ]);
  }
}

/** Returns the version that the request named, and the delete marker that was added or removed. */
function versionElements(asked: string | undefined, { versionId, deleteMarker }: DeletedObject): (Xml | undefined)[] {
  return [
    asked === undefined ? undefined : element('VersionId', asked),
    deleteMarker ? element('DeleteMarker', true) : undefined,
    deleteMarker && versionId !== undefined ? element('DeleteMarkerVersionId', versionId) : undefined,
  ];
}
