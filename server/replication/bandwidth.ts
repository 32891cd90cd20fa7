import { setTimeout as sleep } from 'node:timers/promises';

interface BandwidthOptions {
  /** Bytes each second; 0 is no limit. */
  readonly limit: number;
  readonly signal: AbortSignal;
  /** A monotonic clock in milliseconds. */
  readonly clock?: () => number;
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** The bandwidth of a remote target: all that is sent to it waits until the rate since the start of the burst is below the limit. */
export class Bandwidth {
  readonly #options: BandwidthOptions;
  readonly #clock: () => number;
  /** The time at which what was let through is sent, at the limit. */
  #free = -Infinity;

  constructor(options: BandwidthOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
  }

  async whole(bytes: Buffer): Promise<Buffer> {
    await this.#take(bytes.length);
    return bytes;
  }

  async *paced(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      await this.#take(chunk.length);
      yield chunk;
    }
  }

  async #take(bytes: number): Promise<void> {
    const { limit, signal, wait = pause } = this.#options;
    if (limit === 0) return;
    const now = this.#clock();
    const begins = Math.max(now, this.#free);
    this.#free = begins + (bytes * 1_000) / limit;
    if (begins > now) await wait(begins - now, signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false });
}
