import { crc32 } from 'node:zlib';
import { bodyBytesPassed } from '../../platform/body-buffers.ts';
import { encryptBuffer, encryptStream, SALT_SIZE, streamKey } from '../encryption/packages.ts';
import type { BlobId } from '../store/blob-store.ts';
import { type BodyDigests, DigestsInProgress, digestWhole } from './checksums/body-digests.ts';
import { checkLength, collectBody } from './collect-body.ts';
import type { Environment } from './environment.ts';
import { newBlobId } from './new-id.ts';
import type { BodySource, ExpectedDigests } from './object-layer.ts';
import type { Protection } from './records/object-record.ts';

export interface IncomingBody {
  readonly body: BodySource;
  readonly size: number;
  readonly digests: ExpectedDigests;
  /** Whether the ETag is to be the MD5. */
  readonly md5: boolean;
  /** Encrypts under a stream key of its own. */
  readonly objectKey: Buffer | undefined;
  /** Up to this size the bytes are given back instead of becoming a blob. */
  readonly inlineLimit: number;
}

/** A body that came whole and was what the request said; nothing refers to it yet. */
export interface ReceivedBody {
  readonly digests: BodyDigests;
  readonly protection: Protection;
  readonly stored:
    { readonly kind: 'inline'; readonly bytes: Buffer } | { readonly kind: 'blob'; readonly blob: BlobId };
}

/**
 * Takes a body in: a large one is durable in the blob store when this resolves. Throws `IncompleteBody`, `BadDigest` and what the
 * body throws; then nothing is left behind but what the sweeper removes.
 */
export async function receiveBody(environment: Environment, incoming: IncomingBody): Promise<ReceivedBody> {
  const { random } = environment;
  const wanted = { md5: incoming.md5, crc: incoming.objectKey === undefined };
  const salt = incoming.objectKey && random(SALT_SIZE);
  const key = incoming.objectKey && salt && streamKey(incoming.objectKey, salt);

  if (incoming.size <= incoming.inlineLimit) {
    const plaintext = await collectBody(incoming.body, incoming.size);
    const result = digestWhole(plaintext, incoming.digests, wanted);
    const bytes = key === undefined ? plaintext : encryptBuffer(plaintext, key);
    return {
      digests: result,
      protection: protectionOf(salt, result, () => crc32(bytes)),
      stored: { kind: 'inline', bytes },
    };
  }

  const digests = new DigestsInProgress(incoming.digests, wanted);
  const measured = measure(incoming, digests);
  const blob = newBlobId(environment.clock(), random);
  let stored = 0;
  async function* ciphertext(streamingKey: Buffer): AsyncGenerator<Buffer> {
    for await (const chunk of encryptStream(measured, streamingKey, incoming.size)) {
      stored = crc32(chunk, stored);
      yield chunk;
    }
  }
  await environment.blobs.write(blob, key === undefined ? measured : ciphertext(key));
  try {
    const result = digests.finish();
    return { digests: result, protection: protectionOf(salt, result, () => stored), stored: { kind: 'blob', blob } };
  } catch (error) {
    await discardBlob(environment, blob);
    throw error;
  }
}

/** Removes a blob that nothing refers to. */
export async function discardBlob(environment: Environment, blob: BlobId): Promise<void> {
  try {
    await environment.blobs.remove(blob);
  } catch {
    // The request failed already and says why; the sweeper finds the blob, since it has no owner.
  }
}

function protectionOf(salt: Buffer | undefined, digests: BodyDigests, stored: () => number): Protection {
  if (salt !== undefined) return { salt: salt.toString('base64'), stored: stored() };
  const { crc = 0, gmac } = digests;
  return gmac === undefined ? { crc } : { crc, gmac };
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
