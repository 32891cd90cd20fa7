import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProgramError } from '../../../platform/errors/program-error.ts';

/** The clock of a limit. Tests pass their own. */
interface Clock {
  /** Milliseconds. */
  readonly now: () => number;
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const systemClock: Clock = {
  now: () => performance.now(),
  wait: async (milliseconds, signal) => {
    await sleep(milliseconds, undefined, { signal });
  },
};

/** Limits the bytes per second of all requests of a command together. */
export class RateLimit {
  /** Bytes that are sent or read at once: an eighth of a second, at most 64 KiB. */
  readonly slice: number;
  readonly #bytesPerSecond: number;
  readonly #clock: Clock;
  /** When the bytes that were taken are through. */
  #freeAt = -Infinity;

  constructor(bytesPerSecond: number, clock: Clock = systemClock) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#clock = clock;
    this.slice = Math.max(1, Math.min(65_536, Math.floor(bytesPerSecond / 8)));
  }

  /** Waits until this many bytes may pass. The callers wait in the order of their calls. */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    const now = this.#clock.now();
    const start = Math.max(now, this.#freeAt);
    this.#freeAt = start + (bytes / this.#bytesPerSecond) * 1_000;
    if (start > now) await this.#clock.wait(start - now, signal);
  }

  /** Passes bytes on in slices, at the rate of the limit. */
  async *pace(
    source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const bytes of source) {
      for (let at = 0; at < bytes.length; at += this.slice) {
        const part = bytes.subarray(at, at + this.slice);
        await this.take(part.length, signal);
        yield part;
      }
    }
  }

  /** The body of a response at the rate of the limit. Destroying it closes the response. */
  paceStream(body: Readable, signal: AbortSignal): Readable {
    return Readable.from(this.pace(body as AsyncIterable<Buffer>, signal), { objectMode: false });
  }
}

const rate = /^(\d{1,9}(?:\.\d{1,3})?)\s*([kmgt]?)(i?)b?(?:\/s)?$/i;

/**
 * Parses `10MiB`, `10M` or `1.5GiB/s`. As for other clients the units are of 1,000 without an `i`, and of 1,024 with it.
 *
 * @throws ProgramError BadArgument
 */
export function parseRate(option: string, text: string): number {
  const [, count, unit = '', binary = ''] = rate.exec(text.trim()) ?? [];
  const power = ['', 'k', 'm', 'g', 't'].indexOf(unit.toLowerCase());
  const bytes = Number(count) * (binary === '' ? 1_000 : 1_024) ** power;
  if (count !== undefined && bytes >= 1 && (unit !== '' || binary === '')) return bytes;
  throw new ProgramError('BadArgument', `Invalid ${option} \`${text}\`: write bytes per second, such as 10MiB`);
}
