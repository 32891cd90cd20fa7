import { timeoutText } from '../text/message-text.ts';

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
