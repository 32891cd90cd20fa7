import { checksumAlgorithms, checksumSizes } from '../../protocol/s3/checksum-algorithms.ts';
import { createHash, type Hash, hash } from 'node:crypto';
import type { BodySender } from '../streams/body-memory.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { bodyFrom, type BodySource, chunksOf, type TakeChunk } from '../objects/contract/body-source.ts';
import type { ExpectedDigests } from '../objects/contract/object-layer.ts';
import type { IncomingHttpHeaders } from 'node:http';
import { decodeChunkedBody } from '../../protocol/sigv4/chunked-decoder.ts';
import { announcedTrailers, payloadKind } from '../../protocol/sigv4/payload-kind.ts';
import type { VerifiedSignature } from '../../protocol/sigv4/verify-signature.ts';

/** The declared size and hash of a body; undefined if the request has none. */
interface ExpectedBody {
  readonly size: number | undefined;
  /** 64 hexadecimal digits in lower case. */
  readonly sha256: string | undefined;
}

/** A body that fails at its end with an S3Error if it differs from its declaration. */
export class CheckedBody implements BodySource {
  readonly #source: BodySource;
  readonly #expected: ExpectedBody;
  #size = 0;
  #hash: Hash | undefined;
  #sha256: string | undefined;

  constructor(source: BodySource, expected: ExpectedBody) {
    this.#source = source;
    this.#expected = expected;
  }

  hold(bytes: number, sender: BodySender): void {
    this.#source.hold?.(bytes, sender);
  }

  giveBack(chunk: Buffer): void {
    this.#source.giveBack?.(chunk);
  }

  async pipe(take: TakeChunk): Promise<void> {
    const { size, sha256 } = this.#expected;
    await this.#source.pipe((chunk) => {
      this.#size += chunk.length;
      if (sha256 !== undefined) this.#update(chunk);
      return take(chunk);
    });
    checkSize(this.#size, size);
    if (sha256 !== undefined) checkHash(this.#digest(), sha256);
  }

  /** A body of one chunk needs no hash object, which costs a third of the hash of 4 KiB. */
  #update(chunk: Buffer): void {
    if (this.#hash === undefined && chunk.length === this.#expected.size) this.#sha256 = hash('sha256', chunk);
    else (this.#hash ??= createHash('sha256')).update(chunk);
  }

  #digest(): string {
    return this.#sha256 ?? (this.#hash ?? createHash('sha256')).digest('hex');
  }
}

function checkSize(received: number, size: number | undefined): void {
  if (size === undefined || received === size) return;
  throw new S3Error('IncompleteBody', `The body has ${received} bytes, but Content-Length says ${size}.`);
}

function checkHash(computed: string, expected: string): void {
  if (computed === expected) return;
  throw new S3Error('XAmzContentSHA256Mismatch', undefined, {
    details: { ClientComputedContentSHA256: expected, S3ComputedContentSHA256: computed },
  });
}

export interface VerifiedBody {
  /**
   * The body without aws-chunked framing. A read checks chunk signatures, the payload hash and the declared length. A difference throws an
   * S3Error, and the caller must discard what it has read.
   */
  readonly body: BodySource;
  /** Bytes of `body`; undefined if the request declares none. */
  readonly size: number | undefined;
  /** The checksum of the trailer, if the request announces one. */
  readonly trailing?: NonNullable<ExpectedDigests['trailing']>;
}

type Trailing = NonNullable<VerifiedBody['trailing']>;

/** The supported trailers and the sizes of their checksums. */
const trailingChecksums: ReadonlyMap<string, { readonly algorithm: Trailing['algorithm']; readonly bytes: number }> =
  new Map(
    checksumAlgorithms.map((algorithm) => [
      `x-amz-checksum-${algorithm.toLowerCase()}`,
      { algorithm, bytes: checksumSizes[algorithm] },
    ]),
  );

/**
 * Returns the body for the object layer: without framing, and failing at its end if it differs from what was signed. `signature` is
 * undefined for anonymous requests. Throws an S3Error for contradictory headers.
 */
export function verifiedBody(
  request: { readonly body: BodySource },
  headers: IncomingHttpHeaders,
  signature: VerifiedSignature | undefined,
): VerifiedBody {
  // A presigned URL has it in the query.
  const payload = payloadKind(signature?.claim.payloadHash ?? textOf(headers['x-amz-content-sha256']));
  switch (payload.kind) {
    case 'unsigned':
    case 'sha256': {
      refuseTrailer(headers);
      const size = parseLength(headers['content-length'], 'Content-Length');
      // Without a body, the read still checks the declared hash.
      const body = new CheckedBody(hasBody(headers) ? request.body : nothing, {
        size,
        sha256: payload.kind === 'sha256' ? payload.sha256 : undefined,
      });
      return { body, size };
    }
    case 'streaming':
      return streaming(request, headers, payload, signature);
  }
}

// oxlint-disable-next-line max-params -- what `verifiedBody` has, and the kind of the payload
function streaming(
  request: { readonly body: BodySource },
  headers: IncomingHttpHeaders,
  payload: { readonly signed: boolean; readonly trailer: boolean },
  signature: VerifiedSignature | undefined,
): VerifiedBody {
  if (payload.signed && signature?.claim.kind !== 'header') {
    throw new S3Error('InvalidRequest', 'A body of signed chunks needs a request that is signed in its header.');
  }
  const size = parseLength(textOf(headers['x-amz-decoded-content-length']), 'x-amz-decoded-content-length');
  if (size === undefined) {
    throw new S3Error('MissingContentLength', 'A streaming body needs the header x-amz-decoded-content-length.');
  }
  const signed = payload.signed && signature !== undefined ? { signature } : {};
  if (!payload.trailer) {
    refuseTrailer(headers);
    const body = decodeChunkedBody(chunksOf(request.body), { ...signed, trailer: false, decodedLength: size });
    return { body: countedAt(body, request.body), size };
  }
  const checksum = announcedChecksum(headers);
  const announcedTrailers = checksum === undefined ? [] : [checksum.name];
  const announced = { trailer: true, announcedTrailers, decodedLength: size };
  const body = decodeChunkedBody(chunksOf(request.body), { ...signed, ...announced });
  const decoded = { body: countedAt(body, request.body), size };
  if (checksum === undefined) return decoded;
  const { name, algorithm, bytes } = checksum;
  return {
    ...decoded,
    trailing: { algorithm, value: () => checksumIn(body.trailers, name, bytes) },
  };
}

/** Held bytes of the decoded body count as bytes of its source. */
function countedAt(decoded: AsyncIterable<Buffer>, source: BodySource): BodySource {
  return {
    pipe: (take) => bodyFrom(decoded).pipe(take),
    hold: (bytes, sender) => source.hold?.(bytes, sender),
  };
}

/** Returns the checksum that `x-amz-trailer` announces. Without the header, as in S3, the body must end without a trailing header. */
function announcedChecksum(headers: IncomingHttpHeaders) {
  const announced = announcedTrailers(headers) ?? [];
  const [name] = announced;
  if (name === undefined) return undefined;
  const checksum = announced.length === 1 ? trailingChecksums.get(name) : undefined;
  if (checksum !== undefined) return { name, ...checksum };
  const taken = [...trailingChecksums.keys()].join(', ');
  throw new S3Error(
    'InvalidRequest',
    `The value "${announced.join(', ').slice(0, 100)}" of x-amz-trailer is not supported; use one of ${taken}.`,
  );
}

/** An announced trailer that cannot follow would be a checksum that nothing compares. */
function refuseTrailer(headers: IncomingHttpHeaders): void {
  if (headers['x-amz-trailer'] === undefined) return;
  throw new S3Error(
    'MalformedTrailerError',
    'x-amz-trailer announces a trailer, and x-amz-content-sha256 says that the body has none.',
  );
}

function checksumIn(trailers: ReadonlyMap<string, string>, name: string, bytes: number): string | undefined {
  const value = trailers.get(name);
  if (value === undefined) return undefined;
  const decoded = Buffer.from(value, 'base64');
  if (decoded.length === bytes && decoded.toString('base64') === value) return value;
  throw new S3Error('InvalidRequest', `Value for ${name} trailing header is invalid.`);
}

/** Reports whether a request can have a body: in HTTP/1.1 one without these headers has none. */
export function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

const nothing: BodySource = { pipe: () => Promise.resolve() };

function parseLength(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  const length = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  if (length !== undefined) return length;
  throw new S3Error('InvalidArgument', `${name} must be a number of bytes, not "${text.slice(0, 40)}".`);
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(',') : header;
}
