import { bodyBytesPassed } from '../../streams/body-memory.ts';
import { PackageEncryptor } from '../../encryption/package-encryptor.ts';
import { encryptStream, SALT_SIZE, streamKey } from '../../encryption/packages.ts';
import { BodyHasher } from '../checksums/body-digests.ts';
import { Gmac } from '../checksums/block-sums.ts';
import { checkLength, type IncomingBody, type ReceivedBody, protectionOf, receiveInline } from './incoming-body.ts';
import type { ObjectContext } from '../context/context.ts';
import { PACKED_LIMIT, storeBlob } from './store-blob.ts';
import { receiveIntoSlot } from './receive-into-slot.ts';
import { chunksOf, giveBackTo } from '../contract/body-source.ts';
import { discardBlob } from '../records/blob-claims.ts';

export { discardBlob } from '../records/blob-claims.ts';
export type { IncomingBody, ReceivedBody } from './incoming-body.ts';

/**
 * Receives a body. A blob is durable when this resolves. Throws `IncompleteBody`, `BadDigest` and the errors of the body; garbage
 * collection removes what is left then.
 */
export async function receiveBody(context: ObjectContext, incoming: IncomingBody): Promise<ReceivedBody> {
  if (incoming.size <= incoming.inlineLimit) return receiveInline(context.random, incoming);
  const { random } = context;
  const wanted = { md5: incoming.md5, sum: incoming.objectKey === undefined };
  const salt = incoming.objectKey && random(SALT_SIZE);
  const key = incoming.objectKey && salt && streamKey(incoming.objectKey, salt);

  const slot = takeSlot(context, incoming);
  if (slot !== undefined) {
    const encryption = salt && key && { salt, encryptor: new PackageEncryptor(key, incoming.size) };
    return receiveIntoSlot(context, incoming, slot, encryption);
  }

  const digests = new BodyHasher(incoming.digests, wanted);
  try {
    return await receiveStream(context, incoming, digests, salt && key && { salt, key });
  } finally {
    digests.close();
  }
}

/** A plain body that is small enough to share a file takes no slot: this thread hashes it together with others. */
function takeSlot({ bufferSlots }: ObjectContext, { objectKey, size }: IncomingBody) {
  if (objectKey !== undefined) return bufferSlots?.takeUnhashed();
  return size > PACKED_LIMIT ? bufferSlots?.take() : undefined;
}

/** The encryption of a body that is stored as it comes. */
interface StreamEncryption {
  readonly salt: Buffer;
  readonly key: Buffer;
}

async function receiveStream(
  context: ObjectContext,
  incoming: IncomingBody,
  digests: BodyHasher,
  encryption: StreamEncryption | undefined,
): Promise<ReceivedBody> {
  const measured = measure(incoming, digests);
  const mac = encryption && new Gmac();
  async function* ciphertext(streamingKey: Buffer): AsyncGenerator<Buffer> {
    for await (const chunk of encryptStream(measured, streamingKey, incoming.size)) {
      mac?.update(chunk);
      bodyBytesPassed(chunk.length);
      yield chunk;
    }
  }
  const release = (chunk: Buffer) => digests.release(chunk, () => giveBackTo(incoming.body, chunk));
  const blob =
    encryption === undefined
      ? await storeBlob(context, measured, incoming, { release })
      : await storeBlob(context, ciphertext(encryption.key), incoming);
  try {
    const result = digests.finish();
    const sealed = encryption && mac && { salt: encryption.salt, mac: mac.digest() };
    const { protection, ...sums } = protectionOf(result, sealed, incoming.sumsInRecord);
    return { size: incoming.size, digests: result, protection, stored: { kind: 'blob', blob, ...sums } };
  } catch (error) {
    await discardBlob(context, blob);
    throw error;
  }
}

async function* measure(incoming: IncomingBody, digests: BodyHasher): AsyncGenerator<Buffer> {
  let total = 0;
  for await (const chunk of chunksOf(incoming.body)) {
    total += chunk.length;
    checkLength(incoming.size, total);
    digests.update(chunk);
    yield chunk;
  }
  checkLength(incoming.size, total, 'whole');
}
