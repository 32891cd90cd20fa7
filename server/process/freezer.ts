import type { RequestHandler } from '../http/contract/request.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';

interface FreezerLimits {
  /** Milliseconds that a request is held. A longer silence would cut the connection, which looks like a crash to a client. */
  readonly timeoutMs?: number;
  /** The maximum number of held requests. */
  readonly maxHeld?: number;
}

/**
 * Holds requests while an administrator has frozen the server (`mc admin service freeze`). Clients only see a slow answer. A request that
 * waits for too long, or comes when too many wait, gets SlowDown.
 */
export class Freezer {
  readonly #timeoutMs: number;
  readonly #maxHeld: number;
  #thaw: PromiseWithResolvers<void> | undefined;
  #held = 0;

  constructor({ timeoutMs = 60_000, maxHeld = 4_096 }: FreezerLimits = {}) {
    this.#timeoutMs = timeoutMs;
    this.#maxHeld = maxHeld;
  }

  set(frozen: boolean): void {
    if (frozen) this.#thaw ??= Promise.withResolvers();
    else {
      this.#thaw?.resolve();
      this.#thaw = undefined;
    }
  }

  /** Wraps a handler, so that it gets no requests while the server is frozen. */
  guard(handle: RequestHandler): RequestHandler {
    return (request) => (this.#thaw === undefined ? handle(request) : this.#wait().then(() => handle(request)));
  }

  async #wait(): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    if (this.#held >= this.#maxHeld) throw frozen();
    this.#held += 1;
    const timer = setTimeout(() => reject(frozen()), this.#timeoutMs);
    try {
      // An administrator may have frozen the server again.
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
