/** Every test file of `npm test` imports test/support/vitest/fast-check.ts where it names fast-check. */
import { registerHooks } from 'node:module';

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
