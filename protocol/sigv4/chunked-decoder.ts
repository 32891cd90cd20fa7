import { S3Error } from '../s3/s3-error.ts';
import { createHash } from 'node:crypto';
import { checkChunkSignature, ChunkSignatures } from './signed-chunks.ts';
import { formatScope } from './signing-key.ts';
import { formatTimestamp } from './timestamp.ts';
import type { VerifiedSignature } from './verify-signature.ts';

/** Reads lines and runs of bytes from a stream of buffers. It copies only a line that spans buffers. */
class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #buffer: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Reads at most `limit` bytes, in the buffers of the source. Returns undefined at the end of the stream. */
  async some(limit: number): Promise<Buffer | undefined> {
    if (!(await this.#fill())) return undefined;
    const bytes = this.#buffer.subarray(this.#at, this.#at + limit);
    this.#at += bytes.length;
    return bytes;
  }

  /**
   * Reads a line without its `\n` or `\r\n`, one character per byte. Returns undefined at the end of the stream, and throws `IncompleteBody`
   * where that is within a line. `limit` counts the `\r`; for a longer line it throws the error that `tooLong` makes.
   */
  async line(limit: number, tooLong: () => S3Error = lineTooLong): Promise<string | undefined> {
    let line = '';
    while (await this.#fill()) {
      const end = this.#buffer.indexOf(0x0a, this.#at);
      const stop = end < 0 ? this.#buffer.length : end;
      if (line.length + stop - this.#at > limit) {
        throw tooLong();
      }
      line += this.#buffer.toString('latin1', this.#at, stop);
      this.#at = stop + 1;
      if (end >= 0) return line.endsWith('\r') ? line.slice(0, -1) : line;
    }
    // The line is cut off, and may not say what the client meant.
    if (line !== '') throw endsEarly();
    return undefined;
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #fill(): Promise<boolean> {
    while (this.#at >= this.#buffer.length) {
      const next = await this.#source.next();
      if (next.done === true) return false;
      this.#buffer = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
      this.#at = 0;
    }
    return true;
  }
}

function lineTooLong(): S3Error {
  return new S3Error('IncompleteBody', 'The aws-chunked framing of the body is broken: a line of it is too long.');
}

const maxLineBytes = 1_024;
const maxTrailers = 10;
const signatureName = 'x-amz-trailer-signature';

/**
 * Reads the trailing headers after the last chunk into `trailers`, and checks their signature.
 *
 * Clients end them differently: some put an empty line before the signature, some leave out the last one. The decoder takes both, since the
 * signature, if there is one, covers every name and value.
 */
async function readTrailers(
  reader: ByteReader,
  trailers: Map<string, string>,
  signatures: ChunkSignatures | undefined,
  announced: readonly string[] | undefined,
): Promise<void> {
  let sent: string | undefined;
  let isWhole = false;
  for (let lines = 0; ; lines += 1) {
    const line = await reader.line(maxLineBytes, () => rejected(`a line of them is longer than ${maxLineBytes} bytes`));
    if (line === undefined) break;
    if (lines > maxTrailers) throw rejected(`there may be at most ${maxTrailers}`);
    if (line === '') {
      isWhole = true;
      if (signatures === undefined || sent !== undefined) break;
      continue;
    }
    if (sent !== undefined) throw rejected('nothing may follow the trailer signature');
    const [name, value] = parseTrailer(line);
    if (name === signatureName) sent = value;
    else if (trailers.has(name)) throw rejected(`"${name}" is sent more than once`);
    else trailers.set(name, value);
  }
  if (signatures !== undefined) {
    if (sent === undefined && !isWhole) throw endsEarly();
    if (sent === undefined) throw new S3Error('SignatureDoesNotMatch', `The body lacks ${signatureName}.`);
    const covered = createHash('sha256');
    for (const [name, value] of trailers) covered.update(`${name}:${value}\n`, 'latin1');
    checkChunkSignature(signatures.trailer(covered.digest('hex')), sent, 'the trailers');
  }
  if (!isWhole && announced?.some((name) => !trailers.has(name)) === true) throw endsEarly();
  checkAnnounced(trailers, announced);
}

function parseTrailer(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
  if (!/^[a-z0-9-]+$/.test(name)) throw rejected('each must be a line "name:value"');
  return [name, line.slice(colon + 1).trim()];
}

function checkAnnounced(trailers: ReadonlyMap<string, string>, announced: readonly string[] | undefined): void {
  if (announced === undefined) return;
  const missing = announced.find((name) => !trailers.has(name));
  if (missing !== undefined) throw rejected(`"${missing}" is announced by x-amz-trailer and did not come`);
  const unannounced = trailers.keys().find((name) => !announced.includes(name));
  if (unannounced !== undefined) throw rejected(`"${unannounced}" is not announced by x-amz-trailer`);
}

function rejected(why: string): S3Error {
  return new S3Error('MalformedTrailerError', `The trailing headers of the body are not valid: ${why}.`);
}

export interface ChunkedDecoding {
  /** Set if each chunk is signed. The chain begins with the signature of the request. */
  readonly signature?: VerifiedSignature;
  /** Trailing headers (and, if chunks are signed, a trailer signature) follow the last chunk. */
  readonly trailer: boolean;
  /** The names in `x-amz-trailer`, in lower case. Every one of them must come, and no other. */
  readonly announcedTrailers?: readonly string[];
  /** `x-amz-decoded-content-length`. */
  readonly decodedLength: number;
}

/** The body without its framing. It yields chunks as they arrive; a wrong signature or length throws later, before the end. */
interface DecodedBody extends AsyncIterable<Buffer> {
  /** The trailing headers, with names in lower case. They are complete when the iteration has ended. */
  readonly trailers: ReadonlyMap<string, string>;
}

/** `<size in hex>;chunk-signature=<64 digits>`. */
const maxChunkHeaderBytes = 256;

/**
 * The minimum size in bytes of each signed chunk but the last. Unsigned chunks may be smaller: the JavaScript SDK sends a stream as it
 * reads it.
 */
const leastSignedChunk = 8_192;

/**
 * Decodes the aws-chunked framing of a body. It never holds more of the body than one buffer of `source`.
 *
 * The iteration throws S3Error `SignatureDoesNotMatch`, `IncompleteBody` (broken framing, or not the declared length),
 * `InvalidChunkSizeError` or `MalformedTrailerError`. The bytes are verified only when the iteration has ended without an error.
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
      const { size, signature } = parseChunkHeader(await reader.line(maxChunkHeaderBytes), signatures !== undefined);
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
    if (decoding.trailer) {
      await readTrailers(reader, trailers, signatures, decoding.announcedTrailers);
      // minio-go ends the last trailer with `\n` alone, and sends an empty line too many.
      const more = await reader.line(1, bytesFollow);
      if (more !== undefined && more !== '') throw bytesFollow();
    } else await expectLineEnd(reader);
    if ((await reader.some(1)) !== undefined) throw bytesFollow();
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

function bytesFollow(): S3Error {
  return malformed('bytes follow the end');
}

function endsEarly(): S3Error {
  return new S3Error('IncompleteBody', 'The body ended before its last aws-chunked chunk.');
}

function wrongLength(expected: number, which: 'more' | 'fewer'): S3Error {
  return new S3Error(
    'IncompleteBody',
    `The body has ${which} bytes than x-amz-decoded-content-length says, ${expected}.`,
  );
}

/** Makes the error as AWS does: it names the number of the chunk that shows it, and the size of the one before. */
function tooSmall(number: number, size: number): S3Error {
  return new S3Error('InvalidChunkSizeError', undefined, {
    details: { Chunk: String(number), BadChunkSize: String(size) },
  });
}

function malformed(why: string): S3Error {
  return new S3Error('IncompleteBody', `The aws-chunked framing of the body is broken: ${why}.`);
}
