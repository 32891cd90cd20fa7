import { crc32 } from 'node:zlib';
import { bodyBytesPassed } from '../../../platform/body-buffers.ts';
import { PackageEncryptor } from '../../encryption/package-encryptor.ts';
import { encryptBuffer, encryptStream, SALT_SIZE, streamKey } from '../../encryption/packages.ts';
import { DigestsInProgress, digestWhole } from '../checksums/body-digests.ts';
import { Gmac } from '../checksums/block-sums.ts';
import { checkLength, collectBody, type IncomingBody, type ReceivedBody, protectionOf } from './incoming-body.ts';
import type { Environment } from '../context.ts';
import { discardBlob, newBlobId } from '../operations/claim-blob.ts';
import { receiveAtSeat } from './receive-into-slot.ts';

export { discardBlob } from '../operations/claim-blob.ts';
export type { IncomingBody, ReceivedBody } from './incoming-body.ts';

/**
 * Receives a body. A blob is durable when this resolves. Throws `IncompleteBody`, `BadDigest` and the errors of the body; garbage
 * collection removes what is left then.
 */
export async function receiveBody(environment: Environment, incoming: IncomingBody): Promise<ReceivedBody> {
  const { random } = environment;
  const wanted = { md5: incoming.md5, sum: incoming.objectKey === undefined };
  const salt = incoming.objectKey && random(SALT_SIZE);
  const key = incoming.objectKey && salt && streamKey(incoming.objectKey, salt);

  if (incoming.size <= incoming.inlineLimit) {
    const plaintext = await collectBody(incoming.body, incoming.size);
    const result = digestWhole(plaintext, incoming.digests, wanted);
    const bytes = key === undefined ? plaintext : encryptBuffer(plaintext, key);
    return {
      digests: result,
      ...protectionOf(result, salt && { salt, stored: crc32(bytes) }),
      stored: { kind: 'inline', bytes },
    };
  }

  if (environment.blobs.writePieces !== undefined) {
    const seat = key === undefined ? environment.seats?.take() : environment.seats?.takeUnhashed();
    const sealing = salt && key && { salt, encryptor: new PackageEncryptor(key, incoming.size) };
    if (seat !== undefined) return receiveAtSeat(environment, incoming, seat, sealing);
  }

  const digests = new DigestsInProgress(incoming.digests, wanted);
  const measured = measure(incoming, digests);
  const blob = newBlobId(environment.clock(), random);
  const mac = key && new Gmac();
  async function* ciphertext(streamingKey: Buffer): AsyncGenerator<Buffer> {
    for await (const chunk of encryptStream(measured, streamingKey, incoming.size)) {
      mac?.update(chunk);
      yield chunk;
    }
  }
  await environment.blobs.write(blob, key === undefined ? measured : ciphertext(key));
  try {
    const result = digests.finish();
    const sealed = salt && mac && { salt, mac: mac.digest() };
    const { protection, ...sums } = protectionOf(result, sealed, incoming.sumsApart);
    return { digests: result, protection, stored: { kind: 'blob', blob, ...sums } };
  } catch (error) {
    await discardBlob(environment, blob);
    throw error;
  }
}

async function* measure(incoming: IncomingBody, digests: DigestsInProgress): AsyncGenerator<Buffer> {
  let total = 0;
  for await (const chunk of incoming.body) {
    total += chunk.length;
    checkLength(incoming.size, total);
    digests.update(chunk);
    bodyBytesPassed(chunk.length);
    yield chunk;
  }
  checkLength(incoming.size, total, 'whole');
}
