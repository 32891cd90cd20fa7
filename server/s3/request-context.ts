import { accountId, type Principal } from '../auth/principal.ts';
import { connectionContext, signatureKind, type SignatureKind } from '../auth/condition-keys.ts';
import type { IncomingRequest } from '../http/contract/request.ts';
import { customerKeyHeaders, keyIdHeader } from './encryption-headers.ts';
import { keyNameOf } from '../../protocol/s3/bucket-encryption.ts';
import { parseTimestamp } from '../../protocol/sigv4/timestamp.ts';
import { requestTagContext } from '../../protocol/policy/tag-context.ts';
import { lockHeaderContext, taggingHeader } from './tag-and-lock-headers.ts';
import { replacesNothing } from './object-headers.ts';
import { header, type Query } from './request.ts';

/** The query parameters that are condition keys. */
const fromQuery = [
  ['prefix', 's3:prefix'],
  ['delimiter', 's3:delimiter'],
  ['max-keys', 's3:max-keys'],
  ['versionId', 's3:versionid'],
] as const;

/** A store is one account. */
const theAccount = [accountId];

/**
 * Returns the condition keys of a request. Those of a signature are there where one was verified: an anonymous caller could name any.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/amazon-s3-policy-keys.html
 */
// oxlint-disable-next-line max-params -- each is of another origin
export function requestContext(
  request: IncomingRequest,
  principal: Pick<Principal, 'kind'>,
  query: Query,
  now: Date,
): Readonly<Record<string, readonly string[]>> {
  const context = connectionContext(request, now);
  const signed = principal.kind === 'anonymous' ? undefined : signatureKind(request.headers, query);
  if (signed !== undefined) addSignature(context, signed, { query, now });
  const userAgent = header(request.headers, 'user-agent');
  if (userAgent !== undefined) context['aws:UserAgent'] = [userAgent];
  const referer = header(request.headers, 'referer');
  if (referer !== undefined) context['aws:Referer'] = [referer];
  context['s3:ResourceAccount'] = theAccount;
  context['aws:ResourceAccount'] = theAccount;
  const ifMatch = header(request.headers, 'if-match');
  if (ifMatch !== undefined) context['s3:if-match'] = [ifMatch];
  // A statement that requires the key keeps objects from being replaced, which a list of ETags does not.
  if (replacesNothing(request.headers)) context['s3:if-none-match'] = ['*'];
  for (const [parameter, key] of fromQuery) {
    const value = query.get(parameter);
    if (value !== undefined) context[key] = [value];
  }
  for (const name of Object.keys(request.headers)) {
    if (!name.startsWith('x-amz-') || customerKeyHeaders.has(name)) continue;
    const value = header(request.headers, name) ?? '';
    if (name === 'x-amz-acl' && value === '') continue;
    context[`s3:${name}`] = [name === keyIdHeader ? keyNameOf(value) : value];
  }
  // Most requests have neither tags nor a lock.
  if (request.headers['x-amz-tagging'] !== undefined) {
    Object.assign(context, requestTagContext(taggingHeader(request.headers) ?? {}));
  }
  Object.assign(context, lockHeaderContext(request.headers, now));
  return context;
}

function addSignature(
  context: Record<string, readonly string[]>,
  { version, method }: SignatureKind,
  { query, now }: { readonly query: Query; readonly now: Date },
): void {
  const inQuery = method === 'QueryString';
  context['s3:authType'] = [inQuery ? 'REST-QUERY-STRING' : 'REST-HEADER'];
  context['s3:signatureversion'] = [version === 'SigV4' ? 'AWS4-HMAC-SHA256' : 'AWS'];
  if (inQuery) context['s3:signatureAge'] = [String(signatureAge(query, now))];
  // Neither a URL nor version 2 covers the body, unless the query or a header of the request has its hash.
  if (inQuery || version === 'SigV2') {
    context['s3:x-amz-content-sha256'] = [payloadHashOf(query) ?? 'UNSIGNED-PAYLOAD'];
  }
}

/**
 * Returns the age of a presigned URL in milliseconds. A URL of version 2 does not say when it was made. It counts as old, so that a Deny of
 * old signatures holds.
 */
function signatureAge(query: Query, now: Date): number {
  const made = parseTimestamp(query.get('X-Amz-Date') ?? '');
  return made === undefined ? Number.MAX_SAFE_INTEGER : Math.max(0, now.getTime() - made.getTime());
}

/** SDKs write the name in either form. */
function payloadHashOf(query: Query): string | undefined {
  return query.get('X-Amz-Content-Sha256') ?? query.get('x-amz-content-sha256');
}
