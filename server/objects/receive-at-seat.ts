import { bodyBytesPassed } from '../../platform/body-buffers.ts';
import type { PackageEncryptor } from '../encryption/package-encryptor.ts';
import { DigestsInProgress } from './checksums/body-digests.ts';
import { Gmac } from './checksums/gmac.ts';
import { checkLength } from './collect-body.ts';
import { discardBlob } from './discard-blob.ts';
import type { Environment } from './environment.ts';
import type { Seat } from './hashing/seats.ts';
import type { IncomingBody, ReceivedBody } from './incoming-body.ts';
import { newBlobId } from './new-id.ts';
import type { BodySource } from './object-layer.ts';
import { PieceFiller } from './piece-filler.ts';
import { PieceQueue } from './piece-queue.ts';
import { protectionOf } from './protection-of.ts';

/** How a body is encrypted on its way into the pieces. */
export interface Sealing {
  readonly salt: Buffer;
  readonly encryptor: PackageEncryptor;
}

/**
 * The same as `receiveBody` for a body that becomes a blob. The MD5 of a plain one is computed on the hashing thread, of the bytes as they
 * are written; one that is encrypted, with `sealing`, uses an unhashed seat: what is written is not what its digests are of.
 */
export async function receiveAtSeat(
  environment: Environment,
  incoming: IncomingBody,
  seat: Seat,
  sealing?: Sealing,
): Promise<ReceivedBody> {
  const { blobs, clock, random } = environment;
  const digests = new DigestsInProgress(incoming.digests, wanted(incoming, sealing));
  const blob = newBlobId(clock(), random);
  const mac = sealing && new Gmac();
  let md5: Promise<Buffer> | undefined;
  const queue = new PieceQueue();
  const filler = new PieceFiller(seat, queue, (bytes) => {
    mac?.update(bytes);
  });
  const poured = (async () => {
    try {
      await pourInto(incoming, { digests, queue, filler, encryptor: sealing?.encryptor });
      // While the store writes and flushes what it has.
      if (sealing === undefined) md5 = seat.digest();
      queue.end();
    } catch (error) {
      queue.fail(error);
    }
  })();
  try {
    await blobs.writePieces?.(blob, queue);
    try {
      const result = digests.finish(await md5);
      const sealed = sealing && mac && { salt: sealing.salt, mac: mac.digest() };
      const { protection, ...sums } = protectionOf(result, sealed, incoming.sumsApart);
      return { digests: result, protection, stored: { kind: 'blob', blob, ...sums } };
    } catch (error) {
      await discardBlob(environment, blob);
      throw error;
    }
  } finally {
    queue.close();
    // Where the store failed, a chunk may still be on its way into a piece.
    void poured.then(() => seat.leave());
  }
}

function wanted({ md5 }: IncomingBody, sealing: Sealing | undefined) {
  return sealing === undefined ? ({ md5: 'elsewhere', sum: true } as const) : { md5, sum: false };
}

interface Pouring {
  readonly digests: DigestsInProgress;
  readonly queue: PieceQueue;
  readonly filler: PieceFiller;
  readonly encryptor: PackageEncryptor | undefined;
}

/** Throws `IncompleteBody`, what the body throws, and what the store failed with. */
async function pourInto(incoming: IncomingBody, { digests, queue, filler, encryptor }: Pouring): Promise<void> {
  let total = 0;
  const take = (chunk: Buffer) => {
    queue.throwIfClosed();
    total += chunk.length;
    checkLength(incoming.size, total);
    digests.update(chunk);
    bodyBytesPassed(chunk.length);
    return encryptor === undefined ? filler.copy(chunk) : filler.copyEach(encryptor.update(chunk));
  };
  await eachChunk(incoming.body, take);
  checkLength(incoming.size, total, 'whole');
  if (encryptor !== undefined) await filler.copyEach(encryptor.final());
  filler.finish();
}

async function eachChunk(body: BodySource, take: (chunk: Buffer) => Promise<void> | undefined): Promise<void> {
  if (body.pour !== undefined) await body.pour(take);
  else for await (const chunk of body) await take(chunk);
}
