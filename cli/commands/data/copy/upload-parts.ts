import { forEachLimit, type Semaphore } from '../../../../platform/async/concurrency.ts';
import type { CompletedPart } from '../../../../protocol/s3/completed-part.ts';
import type { S3Client } from '../../../s3/client.ts';
import {
  abortUpload,
  completeUpload,
  createUpload,
  type StoredPart,
  type Upload,
} from '../../../s3/multipart-upload.ts';
import type { ObjectHeaders } from '../../../s3/objects.ts';
import { isTransient } from '../../../s3/retry.ts';
import type { UploadSession, UploadSessions } from '../../../s3/upload-sessions.ts';
import { attributesHeader } from './file-attributes.ts';
import { type WantedDigests, uploadDigestHeaders } from './digests.ts';

export interface Destination {
  readonly client: S3Client;
  readonly bucket: string;
  readonly key: string;
  readonly headers: ObjectHeaders;
  /** Headers of each part, for a key of the client. */
  readonly partHeaders: ObjectHeaders;
  /** The digests of each body. A body that is not in memory is read twice for them. */
  readonly digests: WantedDigests;
  /** Limits the concurrent requests with a large body. */
  readonly semaphore: Semaphore;
  /** Concurrent parts of one upload. */
  readonly parallel: number;
  readonly count: (bytes: number) => void;
  readonly sessions: UploadSessions;
  /** Makes a client that works after the command is interrupted. */
  readonly cleaner: () => Promise<S3Client>;
}

/** One part of an upload; `end` is exclusive. */
export interface PartRange {
  readonly partNumber: number;
  readonly start: number;
  readonly end: number;
}

interface PartWork<Range extends PartRange> {
  /** Describes the source, so that another source does not continue its upload. */
  readonly plan: string;
  readonly ranges: AsyncIterable<Range> | Iterable<Range>;
  readonly send: (upload: Upload, range: Range) => Promise<CompletedPart>;
  /** Returns a part that the server has if it is the same as that of the source. */
  readonly reuse?: (stored: StoredPart, range: Range) => Promise<CompletedPart | undefined>;
}

/**
 * Uploads the parts and completes the upload. It continues the upload of a killed command, and sends only the parts that the server does not
 * have. After an interruption or a failure of the network the upload stays, so that the same command can continue it; after another failure
 * it is aborted.
 */
export async function uploadParts<Range extends PartRange>(to: Destination, work: PartWork<Range>): Promise<void> {
  const { client, bucket, key } = to;
  const headers = { ...to.headers, ...uploadDigestHeaders(to.digests) };
  const plan = JSON.stringify([work.plan, comparable(headers), to.partHeaders]);
  const session = await to.sessions.begin(client, to, plan, async () => createUpload(client, bucket, key, headers));
  const parts: CompletedPart[] = [];
  let size = 0;
  try {
    await forEachLimit(work.ranges, to.parallel, async (range) => {
      const stored = session.stored.get(range.partNumber);
      const length = range.end - range.start;
      const same = stored?.size === length ? await work.reuse?.(stored, range) : undefined;
      if (same !== undefined) to.count(length);
      parts[range.partNumber - 1] = same ?? (await work.send(session.upload, range));
      size += length;
    });
    await completeUpload(client, session.upload, parts, size);
  } catch (error) {
    await endSession(to, session, error, work.reuse !== undefined && parts.length > 0);
    throw error;
  }
  await session.forget();
}

/** The time of the last access is in the attributes of a file, and the upload itself changes it. */
function comparable(headers: ObjectHeaders): ObjectHeaders {
  const attributes = headers[attributesHeader];
  if (attributes === undefined) return headers;
  return { ...headers, [attributesHeader]: attributes.replace(/^atime:[^/]*\//, '') };
}

/** The caller gets the original failure. An unreachable server removes the parts in its own clean-up. */
async function endSession(to: Destination, session: UploadSession, error: unknown, useful: boolean): Promise<void> {
  if (useful && (to.client.signal.aborted || isTransient(error))) {
    session.leave();
    return;
  }
  try {
    const cleaner = await to.cleaner();
    await abortUpload(cleaner, session.upload).finally(() => cleaner.close());
    await session.forget();
  } catch {
    // The next command for this key finds the upload by its session.
    session.leave();
  }
}
