import { S3Error } from '../s3/s3-error.ts';
import { headerValue, type RequestHeaders } from './signed-request.ts';

/** The protection and the framing of the body, from `x-amz-content-sha256`. */
export type PayloadKind =
  /** No hash covers the body (`UNSIGNED-PAYLOAD`, or no header at all). */
  | { readonly kind: 'unsigned' }
  /** The SHA-256 of the body, 64 hexadecimal digits in lower case. */
  | { readonly kind: 'sha256'; readonly sha256: string }
  /** aws-chunked framing: chunk signatures, a trailer, or both. */
  | { readonly kind: 'streaming'; readonly signed: boolean; readonly trailer: boolean };

/**
 * Reads how the body is protected and framed. Throws S3Error `NotImplemented` for ECDSA (Signature Version 4A), and `InvalidArgument` for a
 * text that is not a hash.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
 */
export function payloadKind(payloadHash: string | undefined): PayloadKind {
  const sent = payloadHash?.trim();
  switch (sent) {
    case undefined:
    case '':
    case 'UNSIGNED-PAYLOAD':
      return { kind: 'unsigned' };
    case 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD':
      return { kind: 'streaming', signed: true, trailer: false };
    case 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER':
      return { kind: 'streaming', signed: true, trailer: true };
    case 'STREAMING-UNSIGNED-PAYLOAD-TRAILER':
      return { kind: 'streaming', signed: false, trailer: true };
    default:
  }
  if (/^[0-9A-Fa-f]{64}$/.test(sent)) return { kind: 'sha256', sha256: sent.toLowerCase() };
  if (sent.startsWith('STREAMING-')) {
    throw new S3Error('NotImplemented', `The payload kind "${sent.slice(0, 64)}" is not implemented.`, {
      details: argument(sent),
    });
  }
  throw new S3Error(
    'InvalidArgument',
    'x-amz-content-sha256 must be UNSIGNED-PAYLOAD, a STREAMING-… kind, or 64 hexadecimal digits, not ' +
      `"${sent.slice(0, 64)}".`,
    { details: argument(sent) },
  );
}

function argument(sent: string): Record<string, string> {
  return { ArgumentName: 'x-amz-content-sha256', ArgumentValue: sent.slice(0, 100) };
}

/** Returns the names in `x-amz-trailer`, in lower case, or undefined without the header. */
export function announcedTrailers(headers: RequestHeaders): readonly string[] | undefined {
  return headerValue(headers, 'x-amz-trailer')
    ?.split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
}
