/** Every test file of `npm test` imports test/support/vitest/fast-check.ts where it names fast-check. */
import { registerHooks } from 'node:module';
import { afterEach, vi } from 'vitest';
import { takeCrossings } from '../store/crossings.ts';
import '../store/places-of-commits.ts';

const standIn = new URL('fast-check.ts', import.meta.url).href;
const done = Symbol.for('coffer.fast-check');

// A shared worker runs this file before each test file, and one hook is enough.
if (!Object.hasOwn(globalThis, done)) {
  Object.defineProperty(globalThis, done, { value: true });
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'fast-check' ? { url: standIn, shortCircuit: true } : next(specifier, context),
  });
}

/**
 * The default of vitest is 1 s, which a busy machine exceeds. vitest.config.ts sets that of `expect.poll`, but there is no setting for
 * these two.
 */
const waitTimeoutMs = 60_000;
const patched = Symbol.for('coffer.wait-timeout');
if (!Object.hasOwn(vi, patched)) {
  const { waitFor, waitUntil } = vi;
  const withTimeout = (options: number | { timeout?: number; interval?: number } | undefined) =>
    typeof options === 'number' ? options : { timeout: waitTimeoutMs, ...options };
  vi.waitFor = (callback, options) => waitFor(callback, withTimeout(options));
  vi.waitUntil = (callback, options) => waitUntil(callback, withTimeout(options));
  Object.defineProperty(vi, patched, { value: true });
}

/** The code under test may catch the error of a commit, and one in the background has no caller. */
afterEach(() => {
  const [crossing] = takeCrossings();
  if (crossing !== undefined) throw crossing;
});
