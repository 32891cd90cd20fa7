import type { BodySender } from '../../platform/body-memory.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { BodySource } from '../objects/object-layer.ts';

/** Milliseconds for a whole document: a client that sends a byte a minute would hold its memory for hours. */
const maxMs = 60_000;

/**
 * The whole body of a request that carries a document or a form. It counts as held until the request is answered.
 *
 * @throws what `tooLarge` makes above `maxBytes`; S3Error SlowDown where the server holds too much already, RequestTimeout
 */
export async function readWholeBody(
  body: BodySource,
  limits: { readonly maxBytes: number; readonly tooLarge: () => Error; readonly sender?: BodySender },
  now = () => performance.now(),
): Promise<Buffer> {
  const began = now();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limits.maxBytes) throw limits.tooLarge();
    if (now() - began > maxMs) throw new S3Error('RequestTimeout');
    body.hold?.(chunk.length, limits.sender ?? 'known');
    chunks.push(chunk);
  }
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}
