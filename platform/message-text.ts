/** `0 objects`, `1 object`, `2 objects`. A plural that does not end in `s` is given, with its verb where one follows. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/**
 * Writes a timeout for a message.
 *
 * @example
 *     timeoutText(30_000); // 30 s
 *     timeoutText(1_500); // 1.5 s
 *     timeoutText(250); // 250 ms
 */
export function timeoutText(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${Number((ms / 1_000).toFixed(1))} s`;
}

/**
 * Returns a signal that aborts after the time. Its reason, an error of the name `TimeoutError`, says how long it was: that of
 * `AbortSignal.timeout` does not ("The operation was aborted due to timeout"). It does not keep the process alive.
 */
export function timeoutSignal(ms: number): AbortSignal {
  const late = new AbortController();
  const message = `it did not answer within ${timeoutText(ms)}`;
  setTimeout(() => late.abort(Object.assign(new Error(message), { name: 'TimeoutError' })), ms).unref();
  return late.signal;
}
