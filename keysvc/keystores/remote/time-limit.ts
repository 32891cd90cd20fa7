import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The time that a caller of the key service waits. It is not passed as an argument, since the clients of the vendors lie between a call and the
 * requests to its store.
 */
const limits = new AsyncLocalStorage<{ readonly until: number }>();

/** Runs work, whose requests to a remote store end within `ms` milliseconds. */
export function withTimeLimit<T>(ms: number, work: () => Promise<T>): Promise<T> {
  return limits.run({ until: performance.now() + ms }, work);
}

/** Returns the milliseconds that the work has left; Infinity without a limit. */
export function timeLeftMs(): number {
  const until = limits.getStore()?.until;
  return until === undefined ? Infinity : until - performance.now();
}
