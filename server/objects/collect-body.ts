import { bodyBytesPassed } from '../../platform/body-buffers.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { BodySource } from './object-layer.ts';

/** A body that is small enough to be in memory. Throws `IncompleteBody` when it is not of the announced size, and what the body throws. */
export async function collectBody(body: BodySource, size: number): Promise<Buffer> {
  const bytes = body.whole === undefined ? await gathered(body, size) : await body.whole();
  checkLength(size, bytes.length, 'whole');
  bodyBytesPassed(size);
  return bytes;
}

async function gathered(body: BodySource, size: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of body) {
    total += chunk.length;
    checkLength(size, total);
    body.hold?.(chunk.length, 'known');
    chunks.push(chunk);
  }
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, total);
}

/** Throws `IncompleteBody` when more bytes came than were announced or, at the end, fewer. */
export function checkLength(announced: number, came: number, whole?: 'whole'): void {
  if (came === announced || (came < announced && whole === undefined)) return;
  const told = came > announced ? `more than ${announced}` : String(came);
  throw new S3Error('IncompleteBody', `The request announced a body of ${announced} bytes; ${told} came.`);
}
