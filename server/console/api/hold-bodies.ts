import type { RequestHandler } from 'express';
import type { BodyMemory, BodySender } from '../../../platform/body-memory.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';

/** The largest document that a route of the console takes; what is longer streams, or is refused by its length. */
export const maxDocument = 256 * 1024;

/** Milliseconds for a whole document. */
const maxMs = 60_000;

/**
 * Counts the JSON documents that are read into memory until their requests are answered, and ends a connection that sends one for longer
 * than a minute. Everyone may send those of the sign-in: these count as strangers'.
 */
export function holdBodies(memory: BodyMemory): RequestHandler {
  return (request, response, next) => {
    const bytes = heldBytes(request.headers);
    if (bytes === 0) return next();
    const sender: BodySender = request.path.startsWith('/sign-in') ? 'stranger' : 'known';
    if (!memory.take(bytes, sender)) {
      throw new S3Error('SlowDown', 'This server holds as many request bodies in memory as it may; try again later.');
    }
    const timer = setTimeout(() => {
      if (!request.complete) request.destroy();
    }, maxMs);
    response.once('close', () => {
      clearTimeout(timer);
      memory.give(bytes, sender);
    });
    return next();
  };
}

function heldBytes(headers: { readonly [name: string]: string | string[] | undefined }): number {
  if (headers['transfer-encoding'] !== undefined) return maxDocument;
  const declared = Number(headers['content-length'] ?? 0);
  return declared > 0 && declared <= maxDocument ? declared : 0;
}
