import { S3Error } from '../s3/s3-error.ts';
import { parseSignature, parseSignedHeaders } from './parse-signed-parts.ts';
import { parseCredential } from './parse-credential.ts';
import { decodedParameters } from './query.ts';
import { headerValue, type RequestHeaders, type SignatureClaim } from './signed-request.ts';
import { parseTimestamp } from './timestamp.ts';

const longestExpiry = 604_800;
const required = [
  'X-Amz-Algorithm',
  'X-Amz-Credential',
  'X-Amz-Date',
  'X-Amz-Expires',
  'X-Amz-SignedHeaders',
  'X-Amz-Signature',
] as const;

/** The parameters of a presigned URL; undefined when the query is no such thing. */
export function presignedParameters(rawQuery: string): ReadonlyMap<string, string> | undefined {
  // Most queries hold none of these: the test spares them the decoding.
  if (rawQuery === '' || !/X-Amz-(Algorithm|Credential|Signature)=|AWSAccessKeyId=/.test(rawQuery)) return undefined;
  const parameters = new Map<string, string>();
  for (const [sent, value] of decodedParameters(rawQuery)) {
    // SDKs move the header into the query under the name that the header had.
    const name = sent.toLowerCase() === 'x-amz-content-sha256' ? 'X-Amz-Content-Sha256' : sent;
    if (name === 'AWSAccessKeyId') {
      throw new S3Error(
        'UnsupportedSignature',
        'URLs presigned by Signature Version 2 are not supported; presign with AWS4-HMAC-SHA256 (Signature Version 4).',
      );
    }
    if (!name.startsWith('X-Amz-')) continue;
    if (value === undefined) throw malformed(`${name} is not valid UTF-8`);
    if (parameters.has(name)) throw malformed(`${name} is given more than once`);
    parameters.set(name, value);
  }
  return parameters;
}

export function parsePresigned(parameters: ReadonlyMap<string, string>, headers: RequestHeaders): SignatureClaim {
  const [algorithm, credential, date, expires, signedHeaders, signature] = required.map((name) => {
    const value = parameters.get(name);
    if (value === undefined) throw malformed(`the query-string authentication needs ${name}`);
    return value;
  }) as [string, string, string, string, string, string];
  if (algorithm !== 'AWS4-HMAC-SHA256') {
    throw malformed(`X-Amz-Algorithm must be "AWS4-HMAC-SHA256", not "${algorithm.slice(0, 64)}"`);
  }
  const { accessKey, scope } = parseCredential(credential, malformed);
  const timestamp = parseTimestamp(date);
  if (timestamp === undefined) throw malformed(`X-Amz-Date must be like 20130524T000000Z, not "${date.slice(0, 64)}"`);
  if (!date.startsWith(scope.date)) {
    throw malformed(`the credential's date "${scope.date}" is not the day of X-Amz-Date "${date}"`);
  }
  const sessionToken = parameters.get('X-Amz-Security-Token');
  return {
    kind: 'presigned',
    accessKey,
    scope,
    signedHeaders: parseSignedHeaders(signedHeaders, malformed),
    signature: parseSignature(signature, malformed),
    timestamp,
    expires: parseExpires(expires),
    ...(sessionToken === undefined ? {} : { sessionToken }),
    payloadHash: payloadHashOf(parameters, headers),
  };
}

/** What covers the body, by the query or by the header; nothing unless one of them says so. */
function payloadHashOf(parameters: ReadonlyMap<string, string>, headers: RequestHeaders): string {
  const inQuery = parameters.get('X-Amz-Content-Sha256');
  const inHeader = headerValue(headers, 'x-amz-content-sha256')?.trim();
  if (inQuery !== undefined && inHeader !== undefined && inQuery !== inHeader) {
    throw malformed('X-Amz-Content-Sha256 of the query and x-amz-content-sha256 of the headers differ');
  }
  return inQuery ?? inHeader ?? 'UNSIGNED-PAYLOAD';
}

function parseExpires(text: string): number {
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > longestExpiry) {
    throw malformed(`X-Amz-Expires must be 1 to ${longestExpiry} seconds (a week), not "${text.slice(0, 32)}"`);
  }
  return seconds;
}

function malformed(why: string): S3Error {
  return new S3Error('AuthorizationQueryParametersError', `The presigned URL is not valid; ${why}.`);
}
