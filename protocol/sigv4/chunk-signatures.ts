import { createHash, timingSafeEqual } from 'node:crypto';
import { S3Error } from '../s3/s3-error.ts';
import { sign } from './signing-key.ts';
import type { SigningKey } from './signing-key.ts';

const emptySha256 = createHash('sha256').digest('hex');

export interface ChunkChain {
  readonly signingKey: SigningKey;
  /** `20130524T000000Z`. */
  readonly timestamp: string;
  /** `date/region/service/aws4_request`. */
  readonly scope: string;
  /** The signature of the request, on which the first chunk chains. */
  readonly seed: string;
}

/**
 * The chain of signatures through a streaming body: each covers the one before it, so that no chunk can be dropped, repeated
 * or moved.
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

  /** The signature of the next chunk, from the hex SHA-256 of its bytes. */
  chunk(sha256: string): string {
    return this.#next('AWS4-HMAC-SHA256-PAYLOAD', `${emptySha256}\n${sha256}`);
  }

  /** The signature of the trailers, from the hex SHA-256 of their lines `name:value\n`. */
  trailer(sha256: string): string {
    return this.#next('AWS4-HMAC-SHA256-TRAILER', sha256);
  }

  #next(algorithm: string, hashes: string): string {
    const { signingKey, timestamp, scope } = this.#chain;
    this.#previous = sign(signingKey, `${algorithm}\n${timestamp}\n${scope}\n${this.#previous}\n${hashes}`);
    return this.#previous;
  }
}

/** Throws S3Error `SignatureDoesNotMatch`; takes the same time wherever the two differ. */
export function checkChunkSignature(computed: string, sent: string, what: string): void {
  const [a, b] = [Buffer.from(computed, 'latin1'), Buffer.from(sent, 'latin1')];
  if (a.length === b.length && timingSafeEqual(a, b)) return;
  throw new S3Error(
    'SignatureDoesNotMatch',
    `The signature of ${what} of the body does not match the one we calculated.`,
  );
}
