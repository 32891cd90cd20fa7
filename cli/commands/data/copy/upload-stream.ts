import { type CompletedPart } from '../../../../protocol/s3/completed-part.ts';
import { randomUUID } from 'node:crypto';
import { uploadPart } from '../../../s3/multipart-upload.ts';
import { putObject } from '../../../s3/objects.ts';
import { digestHeaders, digestsOf } from './digests.ts';
import type { Multipart } from './upload.ts';
import { type Destination, type PartRange, uploadParts } from './upload-parts.ts';

/**
 * Uploads a stream of unknown size: in one request where it fits into a part, in parts otherwise. Each concurrent part is in memory, so that
 * the client can send it again. A failed upload is aborted.
 */
export async function uploadStream(
  stream: AsyncIterable<Uint8Array>,
  to: Destination,
  multipart: Multipart,
): Promise<void> {
  const { client, bucket, key, headers, semaphore, count } = to;
  const chunks = chunksOf(stream, multipart.partSize);
  const first = await chunks.next();
  const start = first.done === true ? Buffer.alloc(0) : first.value;
  const second = await chunks.next();
  if (second.done === true) {
    const digests = await digestsOf(() => [start], to.digests);
    await semaphore(async () => putObject(client, bucket, key, start, { ...headers, ...digestHeaders(digests) }));
    count(start.length);
    return;
  }
  async function* ranges(): AsyncGenerator<PartRange & { readonly bytes: Buffer }, void, undefined> {
    yield { partNumber: 1, start: 0, end: start.length, bytes: start };
    let at = start.length;
    let partNumber = 2;
    for (let chunk = second; chunk.done !== true; chunk = await chunks.next()) {
      const bytes = chunk.value;
      yield { partNumber, start: at, end: at + bytes.length, bytes };
      at += bytes.length;
      partNumber += 1;
    }
  }
  await uploadParts(to, {
    // The bytes of a stream do not come again.
    plan: randomUUID(),
    ranges: ranges(),
    send: async (upload, { partNumber, bytes }): Promise<CompletedPart> => {
      const digests = await digestsOf(() => [bytes], to.digests);
      const partHeaders = { ...to.partHeaders, ...digestHeaders(digests) };
      const part = await semaphore(async () => uploadPart(client, upload, partNumber, bytes, partHeaders));
      count(bytes.length);
      return { ...part, ...(digests.checksum && { checksum: digests.checksum }) };
    },
  });
}

/**
 * Splits a stream into buffers of one part; the last one is shorter. The size of a part doubles after each 2,500, so that 10,000 parts hold
 * 600 GiB when the first have 16 MiB, and short streams need little memory.
 */
async function* chunksOf(stream: AsyncIterable<Uint8Array>, partSize: number): AsyncGenerator<Buffer, void, undefined> {
  let pending: Uint8Array[] = [];
  let held = 0;
  let made = 0;
  for await (const bytes of stream) {
    let rest = bytes;
    for (;;) {
      const room = partSize * 2 ** Math.floor(made / 2_500) - held;
      if (rest.length < room) break;
      pending.push(rest.subarray(0, room));
      rest = rest.subarray(room);
      yield Buffer.concat(pending);
      made += 1;
      pending = [];
      held = 0;
    }
    if (rest.length > 0) pending.push(rest);
    held += rest.length;
  }
  if (held > 0) yield Buffer.concat(pending);
}
