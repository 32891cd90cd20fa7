import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import type { S3Client } from '../../../s3/client.ts';
import { readObject, type CopySource } from '../../../s3/objects.ts';
import type { StreamedBody } from '../../../s3/request-body.ts';

/** Bytes to upload. A retry opens the same range again. */
export interface ByteSource {
  readonly size: number;
  /** Set if the bytes are the same as long as this is: an object with its ETag. The bytes of a file may change. */
  readonly identity?: string;
  /** `end` is exclusive. */
  open(start: number, end: number): AsyncIterable<Buffer>;
}

export function fileSource(path: string, size: number): ByteSource {
  return {
    size,
    open: (start, end) =>
      start === end ? empty() : createReadStream(path, { start, end: end - 1, highWaterMark: 262_144 }),
  };
}

/** A process cannot open its own input again when that is a socket. */
export function isStandardInput(path: string): boolean {
  return path === '/dev/stdin' || path === '/dev/fd/0';
}

/** Reads a pipe, a terminal or a device from its position to its end. A stream can be read once. */
export function readStream(path: string, stdin: Readable): AsyncIterable<Buffer> {
  return isStandardInput(path) ? stdin : createReadStream(path, { highWaterMark: 262_144 });
}

export function objectSource(client: S3Client, object: CopySource & { readonly size: number }): ByteSource {
  const { bucket, key, versionId = '', etag, size } = object;
  return {
    size,
    ...(etag !== '' && { identity: JSON.stringify([client.alias.url, bucket, key, versionId, etag]) }),
    open: (start, end) => readObject(client, { ...object, start, end, isWhole: start === 0 && end === size }),
  };
}

async function* empty(): AsyncGenerator<Buffer, void, undefined> {
  // Yields nothing.
}

/**
 * Makes a range the body of a request. It counts the bytes, and subtracts them when a retry opens it again. It fails when the source became
 * shorter, since the server would wait for the rest.
 */
export function rangeBody(
  source: ByteSource,
  start: number,
  end: number,
  count: (bytes: number) => void,
): StreamedBody {
  const size = end - start;
  let counted = 0;
  async function* open(): AsyncGenerator<Uint8Array, void, undefined> {
    count(-counted);
    counted = 0;
    for await (const bytes of source.open(start, end)) {
      counted += bytes.length;
      count(bytes.length);
      yield bytes;
    }
    if (counted !== size)
      throw new Error(`The source changed while it was read: ${counted} bytes came where ${size} were expected`);
  }
  return { size, open };
}
