import { legalHoldStatus } from '../../../protocol/s3/object-lock.ts';
import type { ObjectInfo } from '../../objects/object-layer.ts';
import { readTagsActions, type S3Call } from '../operation.ts';

/**
 * Returns the headers of a GET or HEAD that S3 answers only to callers with a further permission: the count of tags, the retention and the
 * legal hold. It is undefined for an object without any.
 */
export function permittedHeaders(call: S3Call, info: ObjectInfo): Promise<Record<string, string>> | undefined {
  return info.tags === undefined && info.lock === undefined ? undefined : readPermitted(call, info);
}

async function readPermitted(call: S3Call, { tags, lock }: ObjectInfo): Promise<Record<string, string>> {
  const resource = `${call.bucket}/${call.key}`;
  const headers: Record<string, string> = {};
  if (tags !== undefined && (await call.allowsVersion(readTagsActions, resource, call.query.get('versionId')))) {
    headers['x-amz-tagging-count'] = String(Object.keys(tags).length);
  }
  if (lock?.retention !== undefined && (await call.allows('s3:GetObjectRetention', resource))) {
    headers['x-amz-object-lock-mode'] = lock.retention.mode;
    headers['x-amz-object-lock-retain-until-date'] = lock.retention.until.toISOString();
  }
  if (lock?.legalHold !== undefined && (await call.allows('s3:GetObjectLegalHold', resource))) {
    headers['x-amz-object-lock-legal-hold'] = legalHoldStatus(lock.legalHold);
  }
  return headers;
}
