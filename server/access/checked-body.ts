import { createHash, type Hash, hash } from 'node:crypto';
import type { BodySender } from '../../platform/body-memory.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { BodySource, TakePiece } from '../objects/object-layer.ts';

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
  readonly pour?: (take: TakePiece) => Promise<void>;

  constructor(source: BodySource, declared: DeclaredBody) {
    this.#source = source;
    this.#declared = declared;
    const { pour } = source;
    if (pour !== undefined) this.pour = (take) => pourChecked(pour.bind(source), this.#declared, take);
    if (source.whole !== undefined && declared.size !== undefined) this.whole = () => this.#readWhole();
  }

  hold(bytes: number, sender: BodySender): void {
    this.#source.hold?.(bytes, sender);
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

async function* checked(source: BodySource, declared: DeclaredBody): AsyncGenerator<Buffer> {
  const received = new Received();
  for await (const bytes of source) {
    received.update(bytes, declared);
    yield bytes;
  }
  received.check(declared);
}

async function pourChecked(
  pour: NonNullable<BodySource['pour']>,
  declared: DeclaredBody,
  take: TakePiece,
): Promise<void> {
  const received = new Received();
  await pour((bytes) => {
    received.update(bytes, declared);
    return take(bytes);
  });
  received.check(declared);
}

/** What came of a body so far. */
class Received {
  #size = 0;
  #sha256: Hash | undefined;

  update(bytes: Buffer, { sha256 }: DeclaredBody): void {
    this.#size += bytes.length;
    if (sha256 !== undefined) (this.#sha256 ??= createHash('sha256')).update(bytes);
  }

  check({ size, sha256 }: DeclaredBody): void {
    if (sha256 !== undefined) checkHash((this.#sha256 ?? createHash('sha256')).digest('hex'), sha256);
    checkSize(this.#size, size);
  }
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
