import { createHash } from 'node:crypto';
import { S3Error } from '../s3/s3-error.ts';
import { ByteReader } from './byte-reader.ts';
import { checkChunkSignature, ChunkSignatures } from './chunk-signatures.ts';
import { readTrailers } from './chunk-trailers.ts';
import { formatScope } from './signing-key.ts';
import { formatTimestamp } from './timestamp.ts';
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

/** `<size in hex>;chunk-signature=<64 digits>`. */
const longestChunkHeader = 256;

/** Bytes of each signed chunk but the last. Unsigned chunks may be smaller: the JavaScript SDK sends a stream as it reads it. */
const leastSignedChunk = 8_192;

/**
 * Takes the aws-chunked framing off a body, without ever holding more of it than one buffer of `source`.
 *
 * Iterating throws S3Error `SignatureDoesNotMatch`, `IncompleteBody` (broken framing, or not the declared length),
 * `InvalidChunkSizeError` or `MalformedTrailerError`. Bytes yielded before are not vouched for until the iteration has ended.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html
 */
export function decodeChunkedBody(source: AsyncIterable<Uint8Array>, decoding: ChunkedDecoding): DecodedBody {
  const trailers = new Map<string, string>();
  return { trailers, [Symbol.asyncIterator]: () => decode(source, decoding, trailers) };
}

async function* decode(
  source: AsyncIterable<Uint8Array>,
  decoding: ChunkedDecoding,
  trailers: Map<string, string>,
): AsyncGenerator<Buffer, void, undefined> {
  const reader = new ByteReader(source);
  const signatures = decoding.signature && chain(decoding.signature);
  let remaining = decoding.decodedLength;
  let before = leastSignedChunk;
  try {
    for (let number = 1; ; number += 1) {
      const { size, signature } = parseChunkHeader(await reader.line(longestChunkHeader), signatures !== undefined);
      if (signatures && size > 0 && before < leastSignedChunk) throw tooSmall(number, before);
      before = size;
      if (size > remaining) throw wrongLength(decoding.decodedLength, 'more');
      remaining -= size;
      const hash = signatures && createHash('sha256');
      for (let left = size; left > 0;) {
        const bytes = await reader.some(left);
        if (bytes === undefined) throw endsEarly();
        left -= bytes.length;
        hash?.update(bytes);
        yield bytes;
      }
      if (signatures && hash) checkChunkSignature(signatures.chunk(hash.digest('hex')), signature, `chunk ${number}`);
      if (size === 0) break;
      await expectLineEnd(reader);
    }
    if (remaining > 0) throw wrongLength(decoding.decodedLength, 'fewer');
    if (decoding.trailer) await readTrailers(reader, trailers, signatures, decoding.announcedTrailers);
    else await expectLineEnd(reader);
    if ((await reader.some(1)) !== undefined) throw malformed('bytes follow the end');
  } finally {
    await reader.close();
  }
}

function chain({ claim, signingKey }: VerifiedSignature): ChunkSignatures {
  return new ChunkSignatures({
    signingKey,
    timestamp: formatTimestamp(claim.timestamp),
    scope: formatScope(claim.scope),
    seed: claim.signature,
  });
}

function parseChunkHeader(line: string | undefined, signed: boolean): { size: number; signature: string } {
  if (line === undefined) throw endsEarly();
  const match = /^([0-9A-Fa-f]{1,13})(?:;chunk-signature=(.*))?$/.exec(line);
  const [, size, signature] = match ?? [];
  if (size === undefined || (signed && signature === undefined)) {
    throw malformed(`a chunk must begin with its size in hex${signed ? ' and ";chunk-signature="' : ''}`);
  }
  return { size: Number.parseInt(size, 16), signature: signature ?? '' };
}

async function expectLineEnd(reader: ByteReader): Promise<void> {
  const rest = await reader.line(1);
  if (rest === undefined) throw endsEarly();
  if (rest !== '') throw malformed('the bytes of a chunk are more than its size says');
}

function endsEarly(): S3Error {
  return new S3Error('IncompleteBody', 'The body ended before its last aws-chunked chunk.');
}

function wrongLength(declared: number, which: 'more' | 'fewer'): S3Error {
  return new S3Error(
    'IncompleteBody',
    `The body has ${which} bytes than x-amz-decoded-content-length says, ${declared}.`,
  );
}

/** As AWS tells it: the number of the chunk that shows it, and the size of the one before. */
function tooSmall(number: number, size: number): S3Error {
  return new S3Error('InvalidChunkSizeError', undefined, {
    details: { Chunk: String(number), BadChunkSize: String(size) },
  });
}

function malformed(why: string): S3Error {
  return new S3Error('IncompleteBody', `The aws-chunked framing of the body is broken: ${why}.`);
}
