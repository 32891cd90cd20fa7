import type { Readable } from 'node:stream';
import { GetObjectCommand, type GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { bodyBytesPassed } from '../../streams/body-memory.ts';
import { ownChunks, type Chunks } from '../../streams/chunks.ts';
import { type BlobRange, type BlobId, blobMissing, blobTruncated, blobAltered } from '../blob-store.ts';
import { blobObjectKey } from './list-blobs.ts';
import { arriving } from '../idle-body.ts';
import { Attempts, placeName, type S3Connection } from './connection.ts';
import { ofObject, s3Failure } from './errors.ts';
import { StoreError, callFailure, isStoreError } from '../store-error.ts';

/**
 * Reads the bytes of a blob's object from `start` to `end` (exclusive). After a broken connection it continues at the next byte.
 *
 * @param mustBeHome rejects if the bucket is not that of the deployment, whose blobs are missing in any other
 */
export function readBlob(
  connection: S3Connection,
  id: BlobId,
  range: BlobRange,
  mustBeHome: () => Promise<void> = () => Promise.resolve(),
): Chunks {
  return ownChunks(chunks({ connection, mustBeHome }, blobObjectKey(connection.address.prefix, id), id, range));
}

interface Source {
  readonly connection: S3Connection;
  readonly mustBeHome: () => Promise<void>;
}

async function* chunks(source: Source, key: string, id: BlobId, range: BlobRange): AsyncIterable<Buffer> {
  const { connection } = source;
  if (range.start >= range.end) {
    await twiceBeforeVerdict(source, () => mustExist(connection, key, id));
    return;
  }
  const attempts = new Attempts(connection.timeouts);
  let at = range.start;
  let etag: string | undefined;
  for (;;) {
    const rest = { ...range, start: at };
    const match = etag;
    const answer = await twiceBeforeVerdict(source, () => ask(connection, key, id, rest, match));
    etag = answer.ETag;
    try {
      for await (const chunk of arriving(answer.Body as Readable, connection.timeouts.idle)) {
        const bytes = chunk.length > range.end - at ? chunk.subarray(0, range.end - at) : chunk;
        at += bytes.length;
        attempts.progressed();
        bodyBytesPassed(bytes.length);
        yield bytes;
      }
      if (at === range.end) return;
    } catch (error) {
      if (s3Failure(error)?.kind !== 'passing') throw error;
    }
    // The body ended early, with or without an error.
    if (!(await attempts.another())) throw brokenOff(connection, id, at);
  }
}

/**
 * Runs a call again, over a new connection, where its answer says that the blob is missing or damaged. A verdict takes an object away, and one
 * wrong answer is more often a fault of the way to that S3 than one of the blob.
 */
async function twiceBeforeVerdict<T>({ connection, mustBeHome }: Source, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isVerdict(error)) throw error;
    connection.renew();
  }
  try {
    return await call();
  } catch (error) {
    if (isVerdict(error)) await mustBeHome();
    throw error;
  }
}

function isVerdict(error: unknown): boolean {
  return isStoreError(error, 'blob-missing', 'blob-truncated', 'blob-altered');
}

async function ask(
  connection: S3Connection,
  key: string,
  id: BlobId,
  range: BlobRange,
  etag: string | undefined,
): Promise<GetObjectCommandOutput> {
  const { start, end } = range;
  const request = {
    Bucket: connection.address.bucket,
    Key: key,
    Range: `bytes=${start}-${end - 1}`,
    ...(etag === undefined ? {} : { IfMatch: etag }),
  };
  try {
    // A body that has begun goes on after a restart.
    const refused = etag === undefined ? connection.timeouts.refused : undefined;
    const answer = await connection.call(
      `read blob ${id}`,
      async (client, options) => ofObject(await client.send(new GetObjectCommand(request), options)),
      { refused },
    );
    try {
      checkRange(answer, id, range, connection.placeOf(key));
    } catch (error) {
      (answer.Body as Readable | undefined)?.destroy();
      throw error;
    }
    return answer;
  } catch (error) {
    throw translated(error, id, end, connection.placeOf(key));
  }
}

/** Throws unless the response has exactly the requested bytes. */
function checkRange(
  { ContentRange, ContentLength }: GetObjectCommandOutput,
  id: BlobId,
  range: BlobRange,
  place: string,
): void {
  const { start, end } = range;
  const match = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(ContentRange ?? '');
  const whole = ContentRange === undefined && start === 0 ? ContentLength : undefined;
  const size = match === null ? whole : Number(match[3]);
  if (size !== undefined && size < end) throw blobTruncated(id, end, place);
  if (size !== undefined && range.size !== undefined && size !== range.size) {
    throw blobAltered(id, `has ${size} bytes instead of ${range.size}`, place);
  }
  if (whole !== undefined || (match !== null && Number(match[1]) === start && Number(match[2]) === end - 1)) return;
  throw new Error(`asked for bytes ${start} to ${end} of blob ${id}, got ${ContentRange ?? 'all'} (${place})`);
}

function translated(error: unknown, id: BlobId, end: number, place: string): unknown {
  switch (callFailure(error)?.kind) {
    case 'absent':
      return blobMissing(id, place);
    case 'range':
      return blobTruncated(id, end, place);
    case 'condition':
      return new Error(`blob ${id} was replaced while it was read (${place})`, { cause: error });
    case 'full':
    case 'passing':
    case 'refused':
    case undefined:
      return error;
  }
}

/** Asks by GET: the answer to HEAD does not tell a bucket that is gone from an object. */
async function mustExist(connection: S3Connection, key: string, id: BlobId): Promise<void> {
  try {
    await connection.call(`look for blob ${id}`, async (client, options) => {
      const request = { Bucket: connection.address.bucket, Key: key, Range: 'bytes=0-0' };
      const { Body } = ofObject(await client.send(new GetObjectCommand(request), options));
      (Body as Readable | undefined)?.destroy();
    });
  } catch (error) {
    // The object is empty.
    if (callFailure(error)?.kind === 'range') return;
    throw translated(error, id, 0, connection.placeOf(key));
  }
}

function brokenOff(connection: S3Connection, id: BlobId, at: number): StoreError {
  const { bucket, endpoint = 'AWS' } = connection.address;
  const message = `reading blob ${id} from ${placeName(connection.address)} (bucket ${bucket} at ${endpoint}) breaks off at byte ${at} again and again`;
  return new StoreError('unreachable', message, { failure: { kind: 'passing', code: 'cut' } });
}
