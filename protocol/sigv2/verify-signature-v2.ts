import { createHmac } from 'node:crypto';
import { S3Error } from '../s3/s3-error.ts';
import { headerValue, type RequestHeaders, type SignedRequest } from '../sigv4/signed-request.ts';
import { percentDecode, reencode } from '../uri/percent-encoding.ts';
import { hexBytes, tooSkewed } from '../sigv4/verify-signature.ts';
import { timingSafeEqual } from '../timing-safe-equal.ts';
import type { SignatureV2Claim } from './parse-authorization-v2.ts';

/**
 * The parameters that the signature covers. Every parameter that selects an operation is among them, except `list-type`, which clients do
 * not sign: the listing that it selects needs the same permission. A URL for one operation is therefore never good for another.
 */
export const signedParameters: ReadonlySet<string> = new Set(
  (
    'abac accelerate acl analytics annotation append attributes cors defaultObjectAcl delete encryption events intelligent-tiering inventory ' +
    'lambdaArn legal-hold lifecycle location logging metadata metadataAnnotationTable metadataConfiguration metadataInventoryTable ' +
    'metadataJournalTable metadataTable metrics notification object-lock ownershipControls partNumber policy policyStatus ' +
    'publicAccessBlock renameObject replication replication-check replication-metrics replication-reset ' +
    'replication-reset-cancel replication-reset-status requestPayment response-cache-control response-content-disposition response-content-encoding response-content-language ' +
    'response-content-type response-expires restore retention select select-type session storageClass tagging torrent uploadId uploads ' +
    'versionId versioning versions website'
  ).split(' '),
);

const allowedSkew = 15 * 60_000;

/**
 * Verifies that `claim` was made with `secretKey` for this very request, and is valid now.
 *
 * @param bucket the bucket that the host names, for virtual-host style
 * @throws S3Error SignatureDoesNotMatch with the text that was expected to be signed, RequestTimeTooSkewed, AccessDenied (expired, headers
 * that the signature does not cover), InvalidRequest (a request of S3 Control)
 */
export function verifySignatureV2(
  request: SignedRequest,
  claim: SignatureV2Claim,
  secretKey: string,
  { now, bucket }: { readonly now: Date; readonly bucket?: string | undefined },
): void {
  checkTime(claim, now);
  refuseUncovered(request.headers);
  const texts = textsToSign(request, claim, bucket);
  for (const text of texts) {
    const signature = createHmac('sha1', secretKey).update(text, 'latin1').digest('base64');
    if (timingSafeEqual(claim.signature, signature)) return;
  }
  const text = texts[0] ?? '';
  throw new S3Error('SignatureDoesNotMatch', undefined, {
    details: {
      AWSAccessKeyId: claim.accessKey.slice(0, 128),
      StringToSign: Buffer.from(text, 'latin1').toString(),
      SignatureProvided: claim.signature.slice(0, 128),
      StringToSignBytes: hexBytes(text),
    },
  });
}

function checkTime({ place, time }: SignatureV2Claim, now: Date): void {
  const age = now.getTime() - time.getTime();
  if (place === 'query') {
    if (age <= 0) return;
    throw new S3Error('AccessDenied', 'Request has expired', {
      details: { Expires: time.toISOString(), ServerTime: now.toISOString() },
    });
  }
  if (Math.abs(age) <= allowedSkew) return;
  throw tooSkewed(time, now, allowedSkew);
}

/**
 * The signature covers `x-amz-` headers alone. Those of MinIO change what a request does. The parameters of S3 Control, whose requests have
 * `x-amz-account-id`, are not covered either, and AWS takes signatures of version 4 alone there.
 */
function refuseUncovered(headers: RequestHeaders): void {
  if (headers['x-amz-account-id'] !== undefined) {
    throw new S3Error(
      'InvalidRequest',
      'S3 Control does not accept signatures of version 2. Please use AWS4-HMAC-SHA256.',
    );
  }
  const names = Object.keys(headers).filter((name) => name.startsWith('x-minio-'));
  if (names.length === 0) return;
  throw new S3Error(
    'AccessDenied',
    `There were headers present in the request which were not signed: ${names.join(', ').slice(0, 1_000)}.`,
    { details: { HeadersNotSigned: names.join(', ').slice(0, 1_000) } },
  );
}

/**
 * Returns the texts that clients sign for this request, the usual one first. Each character is one byte. All of them name the same
 * method, resource, parameters and headers.
 */
function textsToSign(request: SignedRequest, claim: SignatureV2Claim, bucket: string | undefined): string[] {
  const { headers, signedTime } = claim;
  const value = (name: string) => headerValue(headers, name)?.trim() ?? '';
  const head = [request.method, value('content-md5'), value('content-type'), signedTime, ''].join('\n');
  return amzHeaders(headers).flatMap((lines) =>
    paths(request.rawPath, bucket).flatMap((path) =>
      parameters(request.rawQuery).map((query) => `${head}${lines}${path}${query}`),
    ),
  );
}

/** Node joins a repeated header by `, `, where the signature has a comma alone. */
function amzHeaders(headers: RequestHeaders): string[] {
  const names = Object.keys(headers).filter((name) => name.startsWith('x-amz-') && headers[name] !== undefined);
  const lines = names
    .toSorted()
    .map((name) => `${name}:${(headerValue(headers, name) ?? '').trim()}\n`)
    .join('');
  return lines.includes(', ') ? [lines, lines.replaceAll(', ', ',')] : [lines];
}

/** The path as sent, as AWS encodes it, and with the slash that boto signs after the name of a bucket. */
function paths(rawPath: string, bucket: string | undefined): string[] {
  const sent = bucket === undefined ? rawPath : `/${bucket}${rawPath}`;
  const encoded = reencode(sent, { keepSlash: true, plusIsSpace: false });
  const all = encoded === sent ? [sent] : [sent, encoded];
  return /^\/[^/]+$/.test(sent) ? [...all, ...all.map((path) => `${path}/`)] : all;
}

/** The signed parameters with decoded values, in order. A parameter without a value occurs with and without its `=`. */
function parameters(rawQuery: string): string[] {
  const signed = rawQuery
    .split('&')
    .map((parameter) => parameter.split(/=(.*)/s, 2))
    // An escape in a name must not hide it from the signature.
    .map(([name = '', value]) => [decode(name.replaceAll('+', ' ')), value] as const)
    .filter(([name]) => signedParameters.has(name))
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  if (signed.length === 0) return [''];
  const asSent = signed.map(([name, value]) => (value === undefined ? name : `${name}=${decode(value)}`));
  const bare = signed.map(([name, value = '']) => (value === '' ? name : `${name}=${decode(value)}`));
  const plus = signed.map(([name, value = '']) =>
    value === '' ? name : `${name}=${decode(value.replaceAll('+', ' '))}`,
  );
  return [...new Set([asSent, bare, plus].map((texts) => `?${texts.join('&')}`))];
}

function decode(value: string): string {
  return Buffer.from(percentDecode(value) ?? value).toString('latin1');
}
