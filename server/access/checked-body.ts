import { createHash, hash } from 'node:crypto';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { BodySource } from '../objects/object-layer.ts';

/** What a body must turn out to be; undefined where the request does not say. */
export interface DeclaredBody {
  readonly size: number | undefined;
  /** 64 hexadecimal digits in lower case. */
  readonly sha256: string | undefined;
}

/** A body that fails at its end, with the S3Error, when it is not what was declared. */
export class CheckedBody implements BodySource {
  readonly #source: BodySource;
  readonly #declared: DeclaredBody;
  /** Offered only where the length is known: what is kept in memory has a bound then. */
  readonly whole?: () => Promise<Buffer>;

  constructor(source: BodySource, declared: DeclaredBody) {
    this.#source = source;
    this.#declared = declared;
    if (source.whole !== undefined && declared.size !== undefined) this.whole = () => this.#readWhole();
  }

  [Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    return checked(this.#source, this.#declared);
  }

  async #readWhole(): Promise<Buffer> {
    const bytes = await (this.#source.whole?.() ?? Promise.reject(new Error('the source cannot be read at once')));
    const { size, sha256 } = this.#declared;
    if (sha256 !== undefined) checkHash(hash('sha256', bytes), sha256);
    checkSize(bytes.length, size);
    return bytes;
  }
}

async function* checked(source: BodySource, { size, sha256 }: DeclaredBody): AsyncGenerator<Buffer> {
  const digest = sha256 === undefined ? undefined : createHash('sha256');
  let received = 0;
  for await (const bytes of source) {
    received += bytes.length;
    digest?.update(bytes);
    yield bytes;
  }
  if (sha256 !== undefined && digest !== undefined) checkHash(digest.digest('hex'), sha256);
  checkSize(received, size);
}

function checkSize(received: number, size: number | undefined): void {
  if (size === undefined || received === size) return;
  throw new S3Error('IncompleteBody', `The body has ${received} bytes, but Content-Length says ${size}.`);
}

function checkHash(computed: string, declared: string): void {
  if (computed === declared) return;
  throw new S3Error('XAmzContentSHA256Mismatch', undefined, {
    details: { ClientComputedContentSHA256: declared, S3ComputedContentSHA256: computed },
  });
}
