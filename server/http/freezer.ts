import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { RequestHandler } from '../access/answer.ts';

export interface FreezerLimits {
  /** Milliseconds that a request is held. A connection that is silent for longer is cut, which a client cannot tell from a crash. */
  readonly patienceMs?: number;
  /** Requests that are held at a time. */
  readonly most?: number;
}

/**
 * Holds requests while an administrator has frozen the server (`mc admin service freeze`): clients wait and notice nothing else. Who
 * waits for too long, or comes when many wait, is told to come again.
 */
export class Freezer {
  readonly #patienceMs: number;
  readonly #most: number;
  #thaw: PromiseWithResolvers<void> | undefined;
  #held = 0;

  constructor({ patienceMs = 60_000, most = 4_096 }: FreezerLimits = {}) {
    this.#patienceMs = patienceMs;
    this.#most = most;
  }

  set(frozen: boolean): void {
    if (frozen) this.#thaw ??= Promise.withResolvers();
    else {
      this.#thaw?.resolve();
      this.#thaw = undefined;
    }
  }

  /** The same room, behind it. */
  guard(handle: RequestHandler): RequestHandler {
    return (request) => (this.#thaw === undefined ? handle(request) : this.#wait().then(() => handle(request)));
  }

  async #wait(): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    if (this.#held >= this.#most) throw frozen();
    this.#held += 1;
    const timer = setTimeout(() => reject(frozen()), this.#patienceMs);
    try {
      // It may have been frozen again meanwhile.
      while (this.#thaw !== undefined) await Promise.race([this.#thaw.promise, late]);
    } finally {
      clearTimeout(timer);
      this.#held -= 1;
    }
  }
}

function frozen(): S3Error {
  return new S3Error('SlowDown', 'An administrator has frozen this server; try again later.');
}
