import { createHash } from 'node:crypto';
import { ChunkSignatures } from './chunk-signatures.ts';
import { formatScope } from './signing-key.ts';
import type { SignedParts } from './sign-request.ts';

/** The payload hash to sign the request with whose body `encodeSignedChunks` frames. */
export const signedChunksPayload = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';

const signatureField = ';chunk-signature=';

/** Frames a body in aws-chunked with a signature for each chunk. `source` may come in any pieces. */
export async function* encodeSignedChunks(
  source: AsyncIterable<Uint8Array>,
  signed: SignedParts,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { signingKey, timestamp, scope, signature: seed } = signed;
  const signatures = new ChunkSignatures({ signingKey, timestamp, scope: formatScope(scope), seed });
  const header = (bytes: Uint8Array): Buffer => {
    const signature = signatures.chunk(createHash('sha256').update(bytes).digest('hex'));
    return Buffer.from(`${bytes.length.toString(16)}${signatureField}${signature}\r\n`, 'latin1');
  };
  const lineEnd = Buffer.from('\r\n');
  for await (const chunk of rechunk(source)) {
    yield header(chunk);
    yield chunk;
    yield lineEnd;
  }
  yield header(Buffer.alloc(0));
  yield lineEnd;
}

/** S3 demands chunks of one size, the last excepted, of at least 8 KiB. */
const chunkSize = 65_536;

/** Content-Length of the framed body of `size` bytes. */
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
