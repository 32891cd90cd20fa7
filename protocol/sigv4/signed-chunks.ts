import { createHash } from 'node:crypto';
import { S3Error } from '../s3/s3-error.ts';
import { sign, type SigningKey, formatScope } from './signing-key.ts';
import type { SignedParts } from './sign-request.ts';
import { timingSafeEqual } from '../timing-safe-equal.ts';

const emptySha256 = createHash('sha256').digest('hex');

interface ChunkChain {
  readonly signingKey: SigningKey;
  /** `20130524T000000Z`. */
  readonly timestamp: string;
  /** `date/region/service/aws4_request`. */
  readonly scope: string;
  /** The signature of the request, with which the chain begins. */
  readonly seed: string;
}

/**
 * The chain of signatures of a streaming body. Each signature covers the one before it, so that no chunk can be dropped, repeated or moved.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
 */
export class ChunkSignatures {
  readonly #chain: ChunkChain;
  #previous: string;

  constructor(chain: ChunkChain) {
    this.#chain = chain;
    this.#previous = chain.seed;
  }

  /** Computes the signature of the next chunk from the hex SHA-256 of its bytes. */
  chunk(sha256: string): string {
    return this.#next('AWS4-HMAC-SHA256-PAYLOAD', `${emptySha256}\n${sha256}`);
  }

  /** Computes the signature of the trailers from the hex SHA-256 of their lines `name:value\n`. */
  trailer(sha256: string): string {
    return this.#next('AWS4-HMAC-SHA256-TRAILER', sha256);
  }

  #next(algorithm: string, hashes: string): string {
    const { signingKey, timestamp, scope } = this.#chain;
    this.#previous = sign(signingKey, `${algorithm}\n${timestamp}\n${scope}\n${this.#previous}\n${hashes}`);
    return this.#previous;
  }
}

/** Throws S3Error `SignatureDoesNotMatch` if the signatures differ. It compares in constant time. */
export function checkChunkSignature(computed: string, sent: string, what: string): void {
  if (timingSafeEqual(sent, computed)) return;
  throw new S3Error(
    'SignatureDoesNotMatch',
    `The signature of ${what} of the body does not match the one we calculated.`,
  );
}

/** The payload hash of a request whose body `encodeSignedChunks` frames. */
export const signedChunksPayload = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';

const signatureField = ';chunk-signature=';

/** Frames a body in aws-chunked with a signature for each chunk. The buffers of `source` may have any size. */
export async function* encodeSignedChunks(
  source: AsyncIterable<Uint8Array>,
  signed: SignedParts,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { signingKey, timestamp, scope, signature: seed } = signed;
  const signatures = new ChunkSignatures({ signingKey, timestamp, scope: formatScope(scope), seed });
  // The end of a chunk is sent with the header of the next one: alone it would be a packet of two bytes.
  let lineEnd = '';
  const header = (bytes: Uint8Array, sha256: string, more = ''): Buffer => {
    const line = `${lineEnd}${bytes.length.toString(16)}${signatureField}${signatures.chunk(sha256)}\r\n${more}`;
    lineEnd = '\r\n';
    return Buffer.from(line, 'latin1');
  };
  // The hash of a chunk is computed in another thread while the chunk before it is sent.
  let hashing: { readonly chunk: Uint8Array; readonly sha256: Promise<string> } | undefined;
  for await (const chunk of rechunk(source)) {
    const before = hashing;
    hashing = { chunk, sha256: sha256InBackground(chunk) };
    if (before === undefined) continue;
    yield header(before.chunk, await before.sha256);
    yield before.chunk;
  }
  if (hashing !== undefined) {
    yield header(hashing.chunk, await hashing.sha256);
    yield hashing.chunk;
  }
  yield header(Buffer.alloc(0), emptySha256, '\r\n');
}

async function sha256InBackground(bytes: Uint8Array): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('hex');
}

/** S3 requires chunks of one size, except for the last, of at least 8 KiB. MinIO takes 16 MiB at most. */
const chunkSize = 262_144;

/** Returns the Content-Length of the framed body of `size` bytes. */
export function signedChunksLength(size: number): number {
  const rest = size % chunkSize;
  return Math.floor(size / chunkSize) * framed(chunkSize) + (rest > 0 ? framed(rest) : 0) + framed(0);
}

function framed(length: number): number {
  return length.toString(16).length + signatureField.length + 64 + 2 + length + 2;
}

async function* rechunk(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let held: Uint8Array[] = [];
  let length = 0;
  for await (const bytes of source) {
    let at = 0;
    while (length + bytes.length - at >= chunkSize) {
      const end = at + chunkSize - length;
      const last = bytes.subarray(at, end);
      yield held.length === 0 ? last : Buffer.concat([...held, last], chunkSize);
      held = [];
      length = 0;
      at = end;
    }
    if (at < bytes.length) {
      held.push(bytes.subarray(at));
      length += bytes.length - at;
    }
  }
  if (length > 0) yield Buffer.concat(held, length);
}
