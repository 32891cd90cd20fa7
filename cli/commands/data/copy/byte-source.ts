import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { isDiskFast, onThisThread } from '../entries/disk-calls.ts';
import type { IncomingHttpHeaders } from 'node:http';
import { type Io, untilAborted } from '../../../terminal/io.ts';
import type { S3Client } from '../../../s3/client.ts';
import type { BodySink } from '../../../s3/connection/direct-body.ts';
import { readObject, receiveObject, type CopySource } from '../../../s3/objects.ts';
import type { StreamedBody } from '../../../s3/request-body.ts';
import { SourceChangedError } from './source-state.ts';

/** Bytes to upload. A retry opens the same range again. */
export interface ByteSource {
  readonly size: number;
  /** Set if the bytes are the same as long as this is: an object with its ETag. The bytes of a file may change. */
  readonly identity?: string;
  /** `end` is exclusive. A buffer of a source with more than `memoryLimit` bytes is valid until the second one after it is asked for. */
  open(start: number, end: number): AsyncIterable<Buffer>;
  /** Hands a large range over without a copy, and returns the number of bytes. `open` reads the rest. */
  receive?(start: number, end: number, sink: BodySink): Promise<number>;
}

/** Bytes. The client reads a body of at most as many into memory and hashes it, which saves the chunk signatures. */
export const memoryLimit = 1_024 * 1_024;

/** Bytes. It is the size of a signed chunk, so that no bytes are copied. */
const blockSize = 262_144;

/** Throws if a file is no longer what its copy began with. */
export type ExpectUnchanged = () => Promise<void>;

/** Each range calls `expectUnchanged` before it hands over its last bytes, so that no request ends with bytes of two states of the file. */
export function fileSource(path: string, size: number, expectUnchanged: ExpectUnchanged = async () => {}): ByteSource {
  return {
    size,
    open: (start, end) =>
      end - start <= memoryLimit
        ? wholeRange(path, start, end, expectUnchanged)
        : blocks(path, start, end, expectUnchanged),
  };
}

async function* wholeRange(
  path: string,
  start: number,
  end: number,
  expectUnchanged: ExpectUnchanged,
): AsyncGenerator<Buffer, void, undefined> {
  if (start === end) return expectUnchanged();
  const bytes = Buffer.allocUnsafe(end - start);
  const length = isDiskFast() ? onThisThread(() => readNow(path, bytes, start)) : await readLater(path, bytes, start);
  await expectUnchanged();
  yield bytes.subarray(0, length);
}

function readNow(path: string, bytes: Buffer, start: number): number {
  const file = openSync(path, 'r');
  try {
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, start + length);
    }
    return length;
  } finally {
    closeSync(file);
  }
}

async function readLater(path: string, bytes: Buffer, start: number): Promise<number> {
  const file = await open(path);
  try {
    return await readInto(file, bytes, start);
  } finally {
    await file.close();
  }
}

/** Reads until the buffer is full or the file ends. Returns the number of bytes. */
async function readInto(file: FileHandle, bytes: Buffer, start: number): Promise<number> {
  let length = 0;
  for (let read = -1; read !== 0 && length < bytes.length; length += read) {
    read = (await file.read(bytes, length, bytes.length - length, start + length)).bytesRead;
  }
  return length;
}

/** Reads into three buffers in turn: one is read, one hashed and one sent. New ones for each block would take a third of the time. */
async function* blocks(
  path: string,
  start: number,
  end: number,
  expectUnchanged: ExpectUnchanged,
): AsyncGenerator<Buffer, void, undefined> {
  const file = await open(path);
  try {
    const ring = Array.from({ length: 3 }, () => Buffer.allocUnsafeSlow(blockSize));
    for (let at = start, turn = 0; at < end; at += blockSize, turn += 1) {
      const block = ring[turn % ring.length]?.subarray(0, Math.min(blockSize, end - at)) ?? Buffer.alloc(0);
      const length = await readInto(file, block, at);
      if (at + blockSize >= end) await expectUnchanged();
      if (length > 0) yield block.subarray(0, length);
      if (length < block.length) return;
    }
  } finally {
    await file.close();
  }
}

/** A process cannot open its own input again when that is a socket. */
export function isStandardInput(path: string): boolean {
  return path === '/dev/stdin' || path === '/dev/fd/0';
}

/** Reads a pipe, a terminal or a device from its position to its end. A stream can be read once. */
export function readStream(path: string, { stdin, signal }: Pick<Io, 'stdin' | 'signal'>): AsyncIterable<Buffer> {
  // The end of standard input by an interruption is an error.
  return isStandardInput(path) ? stdin : untilAborted(createReadStream(path, { highWaterMark: 262_144 }), signal);
}

interface SourceObject extends CopySource {
  readonly size: number;
  /** Receives the headers of each answer. */
  readonly onHeaders?: (headers: IncomingHttpHeaders) => void;
}

export function objectSource(client: S3Client, object: SourceObject): ByteSource {
  const { bucket, key, versionId = '', etag, size } = object;
  const rangeOf = (start: number, end: number) => ({ ...object, start, end, isWhole: start === 0 && end === size });
  return {
    size,
    ...(etag !== '' && { identity: JSON.stringify([client.alias.url, bucket, key, versionId, etag]) }),
    open: (start, end) => readObject(client, rangeOf(start, end)),
    receive: async (start, end, sink) => receiveObject(client, rangeOf(start, end), sink),
  };
}

/** Reads a body of at most `memoryLimit` bytes. */
export async function inMemory(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all = await Array.fromAsync(chunks);
  return all.length === 1 && all[0] !== undefined ? all[0] : Buffer.concat(all);
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
      throw new SourceChangedError(`the source changed while it was read: ${counted} of ${size} bytes came`);
  }
  return { size, open };
}
