import type { ResourceRef } from '../contract/workload.ts';
import { objectKey } from './resources.ts';

/** Milliseconds, and attempts, after which a failure becomes a condition. The restart of an API server takes less. */
const lastingMs = 20_000;
const lastingAttempts = 3;

/** Knows which resources fail again and again. */
export class LastingFailures {
  readonly #now: () => Date;
  readonly #failing = new Map<string, { readonly version: string; readonly since: number; attempts: number }>();

  constructor(now: () => Date) {
    this.#now = now;
  }

  succeeded(ref: ResourceRef): void {
    this.#failing.delete(objectKey(ref));
  }

  /**
   * Counts a failure. Answers whether the resource fails for long. `version` is another one for another spec and for another resource of the same
   * name, with which the count begins anew.
   */
  lasts(ref: ResourceRef, version: string): boolean {
    const key = objectKey(ref);
    const now = this.#now().getTime();
    const before = this.#failing.get(key);
    const known = before?.version === version ? before : { version, since: now, attempts: 0 };
    known.attempts += 1;
    this.#failing.set(key, known);
    return known.attempts >= lastingAttempts && now - known.since >= lastingMs;
  }
}
