import { createHash } from 'node:crypto';
import { encodeSignedChunks, signedChunksLength, signedChunksPayload } from '../../protocol/sigv4/signed-chunks.ts';
import type { SignedParts } from '../../protocol/sigv4/sign-request.ts';

/** Bytes in memory, or a stream that a retry can open again. */
export type RequestBody = Uint8Array | StreamedBody;

export interface StreamedBody {
  /** Bytes. */
  readonly size: number;
  readonly open: () => AsyncIterable<Uint8Array>;
}

/** The headers and bytes of a body, before the request is signed. */
interface PreparedBody {
  readonly payloadHash: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined for an empty body. */
  readonly send?: (signed: SignedParts) => AsyncIterable<Uint8Array> | readonly Uint8Array[];
}

const emptySha256 = createHash('sha256').digest('hex');

/**
 * Hashes bytes in memory. A stream is unsigned over TLS; over plain HTTP each chunk is signed, so that the client reads the stream only
 * once.
 */
export function prepareBody(body: RequestBody | undefined, secure: boolean, anonymous: boolean): PreparedBody {
  if (body === undefined) return { payloadHash: emptySha256, headers: {} };
  if (body instanceof Uint8Array) {
    const payloadHash = createHash('sha256').update(body).digest('hex');
    return { payloadHash, headers: { 'content-length': String(body.length) }, send: () => [body] };
  }
  if (secure || anonymous) {
    return {
      payloadHash: 'UNSIGNED-PAYLOAD',
      headers: { 'content-length': String(body.size) },
      send: () => body.open(),
    };
  }
  return {
    payloadHash: signedChunksPayload,
    headers: {
      'content-encoding': 'aws-chunked',
      'content-length': String(signedChunksLength(body.size)),
      'x-amz-decoded-content-length': String(body.size),
    },
    send: (signed) => encodeSignedChunks(body.open(), signed),
  };
}
