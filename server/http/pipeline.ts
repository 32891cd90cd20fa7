import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The requests of one connection that may wait. Their heads are in memory. No client of S3 sends as many. */
const maxWaiting = 100;

/** The requests that wait on a connection; absent for a connection without one. */
const waiting = new WeakMap<Socket, { count: number; full: boolean }>();

/**
 * Runs `start` when the response before is complete: a request may depend on the one that the client sent before it on the same connection.
 * Node passes pipelined requests on at once, and only orders the responses.
 *
 * The connection is not read on while a request waits. A client that sends too many gets answers to the first ones, and a closed connection.
 * Returns false for a request that is not accepted.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-9.3.2
 */
export function startAfter(before: ServerResponse, { socket }: IncomingMessage, start: () => void): boolean {
  const queue = waiting.get(socket) ?? { count: 0, full: false };
  waiting.set(socket, queue);
  socket.pause();
  if (queue.full || queue.count === maxWaiting) {
    // The response before is the last one of this connection.
    if (!queue.full && !before.headersSent) before.setHeader('connection', 'close');
    queue.full = true;
    return false;
  }
  queue.count += 1;
  before.once('close', () => {
    queue.count -= 1;
    if (socket.destroyed) return;
    if (queue.count === 0 && !queue.full) {
      waiting.delete(socket);
      socket.resume();
    }
    start();
  });
  return true;
}
