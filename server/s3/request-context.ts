import { connectionContext } from '../auth/condition-keys.ts';
import type { IncomingRequest } from '../http/contract/request.ts';
import { customerKeyHeaders, keyIdHeader, keyIdValues } from './encryption-headers.ts';
import { requestTagContext } from '../../protocol/policy/tag-context.ts';
import { lockHeaderContext } from './lock-headers.ts';
import { taggingHeader } from './object/object-tagging.ts';
import { header, type Query } from './request.ts';

/** The query parameters that are condition keys. */
const fromQuery = [
  ['prefix', 's3:prefix'],
  ['delimiter', 's3:delimiter'],
  ['max-keys', 's3:max-keys'],
  ['versionId', 's3:versionid'],
] as const;

/**
 * Returns the condition keys of a request.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/amazon-s3-policy-keys.html
 */
export function requestContext(
  request: IncomingRequest,
  query: Query,
  now: Date,
): Readonly<Record<string, readonly string[]>> {
  const context = connectionContext(request, now);
  const signed = signedBy(request, query);
  if (signed !== undefined) {
    context['s3:authType'] = [signed];
    // The server accepts no other version.
    context['s3:signatureversion'] = ['AWS4-HMAC-SHA256'];
    // A signature in the query does not cover the body, unless the query or a header below has its hash.
    if (signed === inAddress) context['s3:x-amz-content-sha256'] = [payloadHashOf(query) ?? 'UNSIGNED-PAYLOAD'];
  }
  const userAgent = header(request.headers, 'user-agent');
  if (userAgent !== undefined) context['aws:UserAgent'] = [userAgent];
  const referer = header(request.headers, 'referer');
  if (referer !== undefined) context['aws:Referer'] = [referer];
  for (const [parameter, key] of fromQuery) {
    const value = query.get(parameter);
    if (value !== undefined) context[key] = [value];
  }
  for (const name of Object.keys(request.headers)) {
    if (!name.startsWith('x-amz-') || customerKeyHeaders.has(name)) continue;
    const value = header(request.headers, name) ?? '';
    context[`s3:${name}`] = name === keyIdHeader ? keyIdValues(value) : [value];
  }
  // Most requests have neither tags nor a lock.
  if (request.headers['x-amz-tagging'] !== undefined) {
    Object.assign(context, requestTagContext(taggingHeader(request.headers) ?? {}));
  }
  Object.assign(context, lockHeaderContext(request.headers, now));
  return context;
}

const inAddress = 'REST-QUERY-STRING';

/** SDKs write the name in either form. */
function payloadHashOf(query: Query): string | undefined {
  return query.get('X-Amz-Content-Sha256') ?? query.get('x-amz-content-sha256');
}

/** Returns the place of the signature; undefined for an anonymous request. */
function signedBy({ headers }: IncomingRequest, query: Query): string | undefined {
  if (headers.authorization !== undefined) return 'REST-HEADER';
  return query.get('X-Amz-Signature') === undefined ? undefined : inAddress;
}
