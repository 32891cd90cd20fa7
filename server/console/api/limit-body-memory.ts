import type { RequestHandler } from 'express';
import type { BodyMemory, BodySender } from '../../streams/body-memory.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';

/** The maximum size of a JSON body. Longer bodies are streamed, or refused by their length. */
export const maxDocumentBytes = 256 * 1024;

/** The maximum time to receive a JSON body. */
const maxMs = 60_000;

/**
 * Counts the JSON bodies in memory until their requests are answered, and closes a connection that sends one for longer than a minute.
 * Bodies of the sign-in count as anonymous, because they need no session.
 */
export function limitBodyMemory(memory: BodyMemory): RequestHandler {
  return (request, response, next) => {
    const bytes = bytesInMemory(request.headers);
    if (bytes === 0) return next();
    const sender: BodySender = request.path.startsWith('/sign-in') ? 'stranger' : 'known';
    if (!memory.take(bytes, sender)) {
      throw new S3Error('SlowDown', 'The memory for request bodies is full. Try again later.');
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

function bytesInMemory(headers: { readonly [name: string]: string | string[] | undefined }): number {
  if (headers['transfer-encoding'] !== undefined) return maxDocumentBytes;
  const contentLength = Number(headers['content-length'] ?? 0);
  return contentLength > 0 && contentLength <= maxDocumentBytes ? contentLength : 0;
}
