import { S3Error } from '../../protocol/s3/s3-error.ts';
import { decodeChunkedBody } from '../../protocol/sigv4/chunked-decoder.ts';
import { announcedTrailers, payloadKind } from '../../protocol/sigv4/payload.ts';
import type { VerifiedSignature } from '../../protocol/sigv4/verify-signature.ts';
import type { BodySource } from '../objects/object-layer.ts';
import { CheckedBody } from './checked-body.ts';
import type { AuthenticatedRequest, IncomingRequest } from './incoming-request.ts';

type VerifiedBody = Pick<AuthenticatedRequest, 'body' | 'size' | 'trailing'>;
type Trailing = NonNullable<AuthenticatedRequest['trailing']>;

const trailingChecksums: Readonly<Record<string, Trailing['algorithm']>> = {
  'x-amz-checksum-crc32': 'CRC32',
  'x-amz-checksum-crc32c': 'CRC32C',
  'x-amz-checksum-crc64nvme': 'CRC64NVME',
  'x-amz-checksum-sha1': 'SHA1',
  'x-amz-checksum-sha256': 'SHA256',
};

/**
 * The body as the object layer takes it: without framing, and failing at its end when it is not what was signed.
 * `signature` is undefined for anonymous requests. Throws S3Error for headers that contradict each other.
 */
export function verifiedBody(request: IncomingRequest, signature: VerifiedSignature | undefined): VerifiedBody {
  const { headers } = request;
  const payload = payloadKind(headers);
  switch (payload.kind) {
    case 'unsigned':
    case 'sha256': {
      const size = declaredLength(headers['content-length'], 'Content-Length');
      // Without a body there is nothing to hash but the hash itself may be wrong, which reading finds.
      const body = new CheckedBody(hasBody(request) ? request.body : nothing, {
        size,
        sha256: payload.kind === 'sha256' ? payload.sha256 : undefined,
      });
      return { body, size };
    }
    case 'streaming':
      return streaming(request, payload, signature);
  }
}

function streaming(
  request: IncomingRequest,
  payload: { readonly signed: boolean; readonly trailer: boolean },
  signature: VerifiedSignature | undefined,
): VerifiedBody {
  if (payload.signed && signature?.claim.kind !== 'header') {
    throw new S3Error('InvalidRequest', 'A body of signed chunks needs a request that is signed in its header.');
  }
  const { headers } = request;
  const size = declaredLength(textOf(headers['x-amz-decoded-content-length']), 'x-amz-decoded-content-length');
  if (size === undefined) {
    throw new S3Error('MissingContentLength', 'A streaming body needs the header x-amz-decoded-content-length.');
  }
  const announced = announcedTrailers(headers);
  const body = decodeChunkedBody(request.body, {
    ...(payload.signed && signature !== undefined ? { signature } : {}),
    trailer: payload.trailer,
    ...(announced === undefined ? {} : { announcedTrailers: announced }),
    decodedLength: size,
  });
  const name = announced?.find((candidate) => trailingChecksums[candidate] !== undefined);
  const algorithm = name === undefined ? undefined : trailingChecksums[name];
  if (name === undefined || algorithm === undefined) return { body, size };
  return { body, size, trailing: { algorithm, value: () => body.trailers.get(name) } };
}

/** Without either header HTTP/1.1 says that there is no body. */
function hasBody({ headers }: IncomingRequest): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

const nothing: BodySource = {
  // oxlint-disable-next-line no-empty-function -- an iteration that ends at once
  async *[Symbol.asyncIterator]() {},
  whole: () => Promise.resolve(Buffer.alloc(0)),
};

function declaredLength(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  const length = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  if (length !== undefined) return length;
  throw new S3Error('InvalidArgument', `${name} must be a number of bytes, not "${text.slice(0, 40)}".`);
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(',') : header;
}
