import { pipeline, Readable, type Transform } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { bunzip2 } from './bzip2.ts';

export type Compression = 'NONE' | 'GZIP' | 'BZIP2' | 'ZSTD';

/**
 * Yields the decompressed bytes of a source. Memory does not grow with what a small source expands to: the consumer sets the pace.
 *
 * @throws S3Error InvalidCompressionFormat, TruncatedInput, and what the source throws
 */
export function decompress(source: AsyncIterable<Buffer>, compression: Compression): AsyncIterable<Buffer> {
  switch (compression) {
    case 'NONE':
      return source;
    case 'GZIP':
      return through(source, createGunzip({ chunkSize: 256 * 1_024 }), compression);
    case 'ZSTD':
      return through(source, createZstdDecompress({ chunkSize: 256 * 1_024 }), compression);
    case 'BZIP2':
      return bunzip2(source);
    default:
      return compression satisfies never;
  }
}

async function* through(source: AsyncIterable<Buffer>, transform: Transform, name: string): AsyncGenerator<Buffer> {
  let ofSource: unknown;
  const watched = (async function* () {
    try {
      for await (const chunk of source) {
        yield chunk;
      }
    } catch (error) {
      ofSource = error;
      throw error;
    }
  })();
  // The error reaches the iteration below.
  pipeline(Readable.from(watched, { objectMode: false }), transform, () => undefined);
  try {
    for await (const chunk of transform) yield chunk as Buffer;
  } catch (error) {
    if (ofSource !== undefined) throw ofSource;
    throw failureOf(error, name);
  }
}

function failureOf(error: unknown, name: string): S3Error {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  if (code === 'Z_BUF_ERROR') return new S3Error('TruncatedInput');
  return new S3Error('InvalidCompressionFormat', `${name} is not applicable to the queried object.`, { cause: error });
}
