import type { VerifiedSignature } from './verify-signature.ts';

export interface ChunkedDecoding {
  /** Present when each chunk is signed; the chain begins with the request's signature. */
  readonly signature?: VerifiedSignature;
  /** Whether trailing headers (and, when signed, a trailer signature) follow the last chunk. */
  readonly trailer: boolean;
  /** Names announced by `x-amz-trailer`, in lower case: only they may come, and each must. */
  readonly announcedTrailers?: readonly string[];
  /** `x-amz-decoded-content-length`. */
  readonly decodedLength: number;
}

/** The body without its framing. Chunks are yielded as they stream; a wrong signature or length throws later, before the end. */
export interface DecodedBody extends AsyncIterable<Buffer> {
  /** Complete once the iteration has ended; names in lower case. */
  readonly trailers: ReadonlyMap<string, string>;
}

export function decodeChunkedBody(_source: AsyncIterable<Uint8Array>, _decoding: ChunkedDecoding): DecodedBody {
  throw new Error('not yet');
}
