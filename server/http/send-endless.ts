import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** Milliseconds between spaces while nothing comes: proxies cut connections that are silent for longer. */
const beatMs = 5_000;

/**
 * Sends lines as they come, at the pace of the client, until it goes or there are no more. The next piece is asked for when the system
 * has taken the last: what waits in between is at most one piece. Rejects with what the pieces fail with, once the connection is cut.
 */
export async function sendEndless(
  response: ServerResponse,
  { pieces }: { readonly pieces: (signal: AbortSignal) => AsyncIterable<Buffer> },
  everyMs = beatMs,
): Promise<void> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  response.once('close', leave);
  if (response.destroyed) leave();
  response.flushHeaders();
  const beat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(' ');
  }, everyMs);
  try {
    for await (const piece of pieces(gone.signal)) {
      if (gone.signal.aborted) break;
      if (!response.write(piece)) await drained(response, gone.signal);
    }
    response.end();
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    clearInterval(beat);
    response.off('close', leave);
  }
}

async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  try {
    await once(response, 'drain', { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
