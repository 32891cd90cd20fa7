import { setTimeout as sleep } from 'node:timers/promises';

interface BrokenConnectionsOptions {
  /** The number of times in a row that a request is sent before its error counts. */
  readonly attempts?: number;
  readonly pauseMs?: number;
}

/**
 * Sends a request again whose connection broke, as clients do by themselves, and counts how often. A server ends a connection that says nothing for two
 * minutes, which is what a process does that is paused for a measurement. An answer of the server is never asked for again, whatever it says.
 */
export class BrokenConnections {
  readonly #attempts: number;
  readonly #pauseMs: number;
  #count = 0;

  constructor({ attempts = 10, pauseMs = 100 }: BrokenConnectionsOptions = {}) {
    this.#attempts = attempts;
    this.#pauseMs = pauseMs;
  }

  /** Requests that were sent again. The server may have made the first one too. */
  get count(): number {
    return this.#count;
  }

  async repeat<Answer>(send: () => Promise<Answer>): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await send();
      } catch (error) {
        if (attempt === this.#attempts || isAnswer(error)) throw error;
        this.#count += 1;
        await sleep(this.#pauseMs);
      }
    }
  }
}

function isAnswer(error: unknown): boolean {
  const { $metadata } = error as { readonly $metadata?: { readonly httpStatusCode?: number } };
  return $metadata?.httpStatusCode !== undefined;
}
