import { Worker } from 'node:worker_threads';
import type { FromThread, ThreadOptions, ToThread } from './thread-messages.ts';

/**
 * A small young generation is collected often, and the buffers of bodies that passed through go with it: docs/decisions/0004.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 12 };

export type ThreadFailure = (message: string) => void;

/** One worker and the answers it owes. Its death, unless it was asked to stop, is a failure of the process. */
export class Thread {
  readonly #worker: Worker;
  readonly #name: string;
  readonly #onFailure: ThreadFailure;
  readonly #listeners = new Set<(message: FromThread) => void>();
  #stopping = false;

  constructor(options: ThreadOptions, onFailure: ThreadFailure) {
    this.#name = options.role;
    this.#onFailure = onFailure;
    this.#worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData: options, resourceLimits });
    this.#worker.on('message', (message: FromThread) => {
      if (message.kind === 'failed') this.#onFailure(message.message);
      for (const listener of this.#listeners) listener(message);
    });
    this.#worker.on('error', (error) => {
      const text = error instanceof Error ? error.message : String(error);
      this.#onFailure(`the ${this.#name} thread failed: ${text}`);
    });
    this.#worker.on('exit', (code) => {
      if (!this.#stopping) this.#onFailure(`the ${this.#name} thread ended with code ${code}`);
    });
  }

  /** Calls back for every message of the kind. */
  on<K extends FromThread['kind']>(kind: K, listener: (message: Extract<FromThread, { kind: K }>) => void): void {
    this.#listeners.add((message) => {
      if (isKind(message, kind)) listener(message);
    });
  }

  /** Resolves with the next message of the kind. */
  next<K extends FromThread['kind']>(kind: K): Promise<Extract<FromThread, { kind: K }>> {
    return new Promise((resolve) => {
      const listener = (message: FromThread) => {
        if (!isKind(message, kind)) return;
        this.#listeners.delete(listener);
        resolve(message);
      };
      this.#listeners.add(listener);
    });
  }

  tell(message: ToThread): void {
    if (message.kind === 'stop') this.#stopping = true;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
    this.#worker.postMessage(message);
  }

  /** Tells, and resolves with the answer of that kind. */
  ask<K extends FromThread['kind']>(message: ToThread, answer: K): Promise<Extract<FromThread, { kind: K }>> {
    const next = this.next(answer);
    this.tell(message);
    return next;
  }
}

function isKind<K extends FromThread['kind']>(
  message: FromThread,
  kind: K,
): message is Extract<FromThread, { kind: K }> {
  return message.kind === kind;
}
