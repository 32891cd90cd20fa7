import type { IncomingHttpHeaders } from 'node:http';
import { legalHoldStatus, parseLockHeaders } from '../../protocol/s3/object-lock.ts';
import { requestTagContext } from '../../protocol/policy/tag-context.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { parseTaggingHeader, type Tags } from '../../protocol/s3/tagging.ts';
import type { CopySource, ObjectLock } from '../objects/contract/object-layer.ts';
import { type PolicyContext, readTagsActions, type S3Call, type VersionActions } from './operation.ts';
import { header } from './request.ts';

const dayMs = 86_400_000;

/**
 * Reads the lock of a new object from its headers; undefined without any.
 *
 * @throws S3Error InvalidArgument
 */
function lockHeaders(headers: IncomingHttpHeaders): ObjectLock | undefined {
  if (!hasLockHeaders(headers)) return undefined;
  return parseLockHeaders({
    mode: header(headers, 'x-amz-object-lock-mode'),
    until: header(headers, 'x-amz-object-lock-retain-until-date'),
    legalHold: header(headers, 'x-amz-object-lock-legal-hold'),
  });
}

function hasLockHeaders(headers: IncomingHttpHeaders): boolean {
  return (
    headers['x-amz-object-lock-mode'] !== undefined ||
    headers['x-amz-object-lock-retain-until-date'] !== undefined ||
    headers['x-amz-object-lock-legal-hold'] !== undefined
  );
}

/** Returns the condition keys of the lock that the headers of a request ask for. */
export function lockHeaderContext(headers: IncomingHttpHeaders, now: Date): PolicyContext {
  return lockContext(lockHeaders(headers) ?? {}, now);
}

/**
 * Returns the condition keys of a lock that a request sends.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock-managing.html
 */
export function lockContext({ retention, legalHold }: ObjectLock, now: Date): PolicyContext {
  return {
    ...(retention && {
      's3:object-lock-mode': [retention.mode],
      's3:object-lock-retain-until-date': [retention.until.toISOString()],
      's3:object-lock-remaining-retention-days': [
        String(Math.ceil((retention.until.getTime() - now.getTime()) / dayMs)),
      ],
    }),
    ...(legalHold !== undefined && { 's3:object-lock-legal-hold': [legalHoldStatus(legalHold)] }),
  };
}

/**
 * Reads the lock of a new object from its headers, and requires the permissions to set it. Most requests have no lock, and need not wait.
 *
 * @throws S3Error AccessDenied, InvalidArgument
 */
export function lockOfRequest(call: S3Call): Promise<ObjectLock> | undefined {
  const lock = lockHeaders(call.request.headers);
  return lock && permittedLock(call, lock);
}

async function permittedLock(call: S3Call, lock: ObjectLock): Promise<ObjectLock> {
  const resource = `${call.bucket}/${call.key}`;
  if (lock.retention !== undefined) await call.require('s3:PutObjectRetention', resource);
  if (lock.legalHold !== undefined) await call.require('s3:PutObjectLegalHold', resource);
  return lock;
}

/**
 * Reports if the request asks to bypass GOVERNANCE for a version and may do so. A caller without the permission is treated as one who did
 * not ask, as in S3: consoles send the header with every delete.
 */
export async function bypassesGovernance(call: S3Call, key: string, versionId: string | undefined): Promise<boolean> {
  if (header(call.request.headers, 'x-amz-bypass-governance-retention')?.toLowerCase() !== 'true') return false;
  const context: PolicyContext = versionId === undefined ? {} : { 's3:versionid': [versionId] };
  return call.allows('s3:BypassGovernanceRetention', `${call.bucket}/${key}`, context);
}

/** @throws S3Error InvalidArgument for a value other than true and false */
export function checkBypass(value: string): void {
  if (/^(?:true|false)$/i.test(value)) return;
  throw new S3Error('InvalidArgument', 'x-amz-bypass-governance-retention must be true or false.', {
    details: { ArgumentName: 'x-amz-bypass-governance-retention', ArgumentValue: value.slice(0, 100) },
  });
}

/** The actions that set the tags of an object or of a version. */
export const putTagsActions: VersionActions = {
  action: 's3:PutObjectTagging',
  versionAction: 's3:PutObjectVersionTagging',
};

/** Reads `x-amz-tagging`. Without the header, or without a tag in it, it is undefined. */
export function taggingHeader(headers: IncomingHttpHeaders): Tags | undefined {
  const text = header(headers, 'x-amz-tagging');
  if (text === undefined || text === '') return undefined;
  const tags = parseTaggingHeader(text);
  return Object.keys(tags).length === 0 ? undefined : tags;
}

/**
 * Reads the tags of a new object from the header, and requires the permission to set them. Most requests have no tags, and need not wait.
 * A server that replicates sets them by another right, and a Deny of the usual one holds for it too.
 *
 * @throws S3Error AccessDenied, InvalidArgument, InvalidTag, BadRequest
 */
export function tagsOfNew(call: S3Call, by: 'client' | 'replica'): Promise<Tags> | undefined {
  const tags = taggingHeader(call.request.headers);
  return tags && permittedTags(call, tags, by);
}

async function permittedTags(call: S3Call, tags: Tags, by: 'client' | 'replica'): Promise<Tags> {
  const resource = `${call.bucket}/${call.key}`;
  const { action } = putTagsActions;
  if (by === 'client') await call.require(action, resource);
  else await call.requireVersion({ action, versionAction: 's3:ReplicateTags' }, resource, call.query.get('versionId'));
  return tags;
}

/**
 * Returns the tags of a copy: those of its source or, with the directive REPLACE, those of the header. A caller who copies tags needs the
 * permissions to read and to set them.
 *
 * @throws S3Error AccessDenied, InvalidArgument, InvalidTag, BadRequest
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html
 */
export async function tagsOfCopy(
  call: S3Call,
  source: CopySource,
): Promise<{ readonly tags: Tags; readonly replaced: boolean }> {
  const directive = header(call.request.headers, 'x-amz-tagging-directive') ?? 'COPY';
  const given = await tagsOfNew(call, 'client');
  if (directive === 'REPLACE') return { tags: given ?? {}, replaced: true };
  if (directive !== 'COPY') throw invalidDirective(directive, 'Unknown tagging directive.');
  if (given !== undefined) throw invalidDirective(directive, 'x-amz-tagging needs x-amz-tagging-directive: REPLACE.');
  const tags = await tagsOfSource(call, source);
  if (Object.keys(tags).length > 0) {
    await call.requireVersion(readTagsActions, `${source.bucket}/${source.key}`, source.versionId);
    await call.require(putTagsActions.action, `${call.bucket}/${call.key}`, requestTagContext(tags));
  }
  return { tags, replaced: false };
}

/** A source that is absent has no tags: the copy answers why. */
async function tagsOfSource({ objects }: S3Call, { bucket, key, versionId }: CopySource): Promise<Tags> {
  try {
    return (await objects.getObjectTags(bucket, key, versionId)).tags;
  } catch (error) {
    if (error instanceof S3Error && error.status < 500) return {};
    throw error;
  }
}

function invalidDirective(value: string, message: string): S3Error {
  return new S3Error('InvalidArgument', message, {
    details: { ArgumentName: 'x-amz-tagging-directive', ArgumentValue: value.slice(0, 100) },
  });
}
