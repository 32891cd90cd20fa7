import { bodyBytesPassed } from '../../streams/body-memory.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { encryptStream, SALT_SIZE, streamKey } from '../../encryption/packages.ts';
import { Gmac } from '../checksums/block-sums.ts';
import { BodyHasher } from '../checksums/body-digests.ts';
import type { ObjectContext } from '../context/context.ts';
import { bodyFrom, chunksOf } from '../contract/body-source.ts';
import { type IncomingBody, protectionOf, type ReceivedBody } from './incoming-body.ts';
import { receiveBody } from './receive-body.ts';
import { discardBlob, newBlobId } from '../records/blob-claims.ts';

type UnsizedBody = Omit<IncomingBody, 'size'> & { readonly size: { readonly max: number } };

/**
 * Receives a body whose size is known only at its end: the file of a form. A small one is collected and then received like any other. The blob
 * of a large one is written while it comes; this thread hashes it.
 *
 * Throws `EntityTooLarge` above `max`, and what `receiveBody` throws.
 */
export async function receiveUnsized(context: ObjectContext, incoming: UnsizedBody): Promise<ReceivedBody> {
  const chunks = chunksOf(incoming.body);
  const head: Buffer[] = [];
  let size = 0;
  let digests: BodyHasher | undefined;
  try {
    while (size <= incoming.inlineLimit) {
      const next = await chunks.next();
      if (next.done === true) return await receiveBody(context, { ...incoming, size, body: bodyFrom(each(head)) });
      incoming.body.hold?.(next.value.length, 'known');
      size += next.value.length;
      if (size > incoming.size.max) throw new S3Error('EntityTooLarge');
      head.push(next.value);
    }
    digests = new BodyHasher(incoming.digests, { md5: incoming.md5, sum: incoming.objectKey === undefined });
    return await receiveBlob(context, incoming, each(head, chunks), digests);
  } finally {
    digests?.close();
    await chunks.return(undefined);
  }
}

async function* each(head: readonly Buffer[], rest?: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* head;
  if (rest !== undefined) yield* rest;
}

async function receiveBlob(
  context: ObjectContext,
  incoming: UnsizedBody,
  chunks: AsyncIterable<Buffer>,
  digests: BodyHasher,
): Promise<ReceivedBody> {
  const { random } = context;
  const salt = incoming.objectKey && random(SALT_SIZE);
  const key = incoming.objectKey && salt && streamKey(incoming.objectKey, salt);
  const mac = key && new Gmac();
  const blob = newBlobId(incoming.bucket, context.clock(), random);
  let size = 0;
  async function* measured(): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      size += chunk.length;
      if (size > incoming.size.max) throw new S3Error('EntityTooLarge');
      digests.update(chunk);
      bodyBytesPassed(chunk.length);
      yield chunk;
    }
  }
  async function* ciphertext(streamingKey: Buffer): AsyncGenerator<Buffer> {
    for await (const chunk of encryptStream(measured(), streamingKey, undefined)) {
      mac?.update(chunk);
      yield chunk;
    }
  }
  await context.blobs.write(blob, key === undefined ? measured() : ciphertext(key));
  try {
    const result = digests.finish();
    const sealed = salt && mac && { salt, mac: mac.digest() };
    const { protection, ...sums } = protectionOf(result, sealed, incoming.sumsInRecord);
    return { size, digests: result, protection, stored: { kind: 'blob', blob, ...sums } };
  } catch (error) {
    await discardBlob(context, blob);
    throw error;
  }
}
