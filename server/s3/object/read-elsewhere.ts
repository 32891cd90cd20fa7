import { isVersionId } from '../../../protocol/s3/names.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Answer } from '../../http/contract/request.ts';
import { customerKeyOf } from '../encryption-headers.ts';
import type { ProxiedAnswer, ProxiedTags } from '../../objects/replication/proxied-read.ts';
import { readTagsActions, type S3Call } from '../operation.ts';
import { header } from '../request.ts';
import { isReadOfServer } from './replica-headers.ts';

export interface ProxiedReadOptions {
  /** The headers that the request replaces. */
  readonly overrides: Readonly<Record<string, string>> | undefined;
  /** The request asks for the checksum. */
  readonly checksumMode: boolean;
}

const tagDirective = 'x-amz-tagging-directive';
const passedOn = [
  'range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'if-range',
] as const;

/**
 * Lets a remote target of the bucket answer a GET or HEAD that failed with `error`. Undefined where the error stays: the object is here,
 * was deleted here, or no target has it.
 *
 * The caller is authorized already, and the target is asked with credentials of its own. So a decision that depends on the object itself,
 * by its tags or its ACL, is not a decision about the object of the target, and such a read is not passed on.
 */
export async function readElsewhere(
  call: S3Call,
  error: unknown,
  options: ProxiedReadOptions,
): Promise<Answer | undefined> {
  const { request, query, replications } = call;
  if (replications === undefined || !isPassedOn(call, error)) return undefined;
  // The key of a client must not reach another server.
  if (customerKeyOf(call) !== undefined) return undefined;
  const versionId = query.get('versionId');
  const answer = await replications.readElsewhere({
    method: request.method === 'HEAD' ? 'HEAD' : 'GET',
    bucket: call.bucket,
    key: call.key,
    versionId,
    partNumber: query.get('partNumber'),
    headers: headersToPassOn(call),
  });
  return answer && answerOf(call, answer, options);
}

/** Lets a remote target of the bucket answer with the tags of an object that is not here, under the same conditions. */
export async function readTagsElsewhere(call: S3Call, error: unknown): Promise<ProxiedTags | undefined> {
  const { query, bucket, key, replications } = call;
  if (replications === undefined || !isPassedOn(call, error)) return undefined;
  return replications.readTagsElsewhere({ bucket, key, versionId: query.get('versionId') });
}

function isPassedOn({ request, query, grantedObject }: S3Call, error: unknown): boolean {
  if (!isAbsence(error) || isReadOfServer(request.headers) || grantedObject !== undefined) return false;
  const versionId = query.get('versionId');
  return versionId === undefined || (versionId !== 'null' && isVersionId(versionId));
}

/** Reports whether an object or a version was never here. A delete marker says that it is gone. */
function isAbsence(error: unknown): boolean {
  if (!(error instanceof S3Error)) return false;
  return error.code === 'NoSuchVersion' || (error.code === 'NoSuchKey' && !('x-amz-delete-marker' in error.headers));
}

/**
 * Reports whether a GET or HEAD asks for the tags in `x-amz-tagging`. This is an extension of MinIO, with which `mc mirror -a` and
 * `mc cp -a` keep tags between servers.
 */
export function wantsTags({ request: { headers } }: Pick<S3Call, 'request'>): boolean {
  return header(headers, tagDirective) === 'ACCESS';
}

function headersToPassOn(call: S3Call): Record<string, string> {
  const { headers } = call.request;
  const found: Record<string, string> = {};
  for (const name of passedOn) {
    const value = header(headers, name);
    if (value !== undefined) found[name] = value;
  }
  if (wantsTags(call)) found[tagDirective] = 'ACCESS';
  return found;
}

async function answerOf(
  call: S3Call,
  { status, headers, code, size, body }: ProxiedAnswer,
  { overrides, checksumMode }: ProxiedReadOptions,
): Promise<Answer> {
  if (status !== 200 && status !== 206) throw conditionError(status, headers, code);
  try {
    const shown = { ...shownHeaders(headers, checksumMode), ...(await permittedHeaders(call, headers)), ...overrides };
    if (body === undefined) shown['content-length'] = String(size);
    if (body !== undefined && size > 0) return { status, headers: shown, body: { kind: 'chunks', size, chunks: body } };
    await body?.close();
    return { status, headers: shown, body: { kind: 'empty' } };
  } catch (error) {
    await body?.close();
    throw error;
  }
}

function conditionError(status: 304 | 412 | 416, headers: ProxiedAnswer['headers'], code: string | undefined): S3Error {
  if (status === 412) return new S3Error('PreconditionFailed');
  if (status === 416) return new S3Error(code === 'InvalidPartNumber' ? code : 'InvalidRange');
  const kept = ['etag', 'last-modified', 'x-amz-version-id', 'cache-control', 'expires'].filter(
    (name) => headers[name] !== undefined,
  );
  return new S3Error('NotModified', undefined, {
    headers: Object.fromEntries(kept.map((name) => [name, headers[name] ?? ''])),
  });
}

/** Headers that describe the object wherever it is. What the other server will do with it, such as its expiration, is left out. */
const shownNames = new Set([
  'accept-ranges',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-range',
  'content-type',
  'etag',
  'expires',
  'last-modified',
  'x-amz-missing-meta',
  'x-amz-mp-parts-count',
  'x-amz-server-side-encryption',
  'x-amz-storage-class',
  'x-amz-website-redirect-location',
]);

function shownHeaders(headers: ProxiedAnswer['headers'], checksumMode: boolean): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const isShown =
      shownNames.has(name) ||
      name.startsWith('x-amz-meta-') ||
      (checksumMode && name.startsWith('x-amz-checksum-')) ||
      (name === 'x-amz-version-id' && isVersionId(value));
    if (isShown) shown[name] = value;
  }
  return shown;
}

const tagNames = ['x-amz-tagging-count', 'x-amz-tagging'] as const;
const retentionNames = ['x-amz-object-lock-mode', 'x-amz-object-lock-retain-until-date'] as const;
const legalHold = 'x-amz-object-lock-legal-hold';

/** Returns the headers for which the caller needs a further permission. */
async function permittedHeaders(call: S3Call, headers: ProxiedAnswer['headers']): Promise<Record<string, string>> {
  const resource = `${call.bucket}/${call.key}`;
  const versionId = call.query.get('versionId');
  const permitted: Record<string, string> = {};
  const add = async (names: readonly string[], actions: typeof readTagsActions) => {
    const present = names.filter((name) => headers[name] !== undefined);
    if (present.length === 0 || !(await call.allowsAnyObject(actions, resource, versionId))) return;
    for (const name of present) permitted[name] = headers[name] ?? '';
  };
  await add(tagNames, readTagsActions);
  await add(retentionNames, { action: 's3:GetObjectRetention', versionAction: 's3:GetObjectRetention' });
  await add([legalHold], { action: 's3:GetObjectLegalHold', versionAction: 's3:GetObjectLegalHold' });
  return permitted;
}
