import { request } from 'node:http';

export interface Downtime {
  /** Milliseconds of each time without a good answer, in order. */
  readonly outages: readonly number[];
  /** Milliseconds of the longest; 0 without any. */
  readonly longestMs: number;
}

/**
 * Counts, without any retry, when nobody answers: one request after the other over a connection of its own, ten milliseconds apart. A
 * good answer is one below 500 within three seconds.
 */
export function watchDowntime(url: string): { stop(): Promise<Downtime> } {
  const outages: number[] = [];
  const stopped = new AbortController();
  const loop = (async () => {
    let downSince: number | undefined;
    while (!stopped.signal.aborted || downSince !== undefined) {
      const asked = Date.now();
      const good = await answers(url);
      if (!good) downSince ??= asked;
      else if (downSince !== undefined) {
        outages.push(asked - downSince);
        downSince = undefined;
      }
      if (stopped.signal.aborted && downSince !== undefined && Date.now() - downSince > 60_000) break;
      await new Promise((resolve) => {
        setTimeout(resolve, 10);
      });
    }
  })();
  return {
    async stop() {
      stopped.abort();
      await loop;
      return { outages, longestMs: Math.max(0, ...outages) };
    },
  };
}

function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(url, { agent: false, timeout: 3000 }, (answer) => {
      answer.resume();
      answer.on('close', () => resolve((answer.statusCode ?? 500) < 500));
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
    asked.end();
  });
}
