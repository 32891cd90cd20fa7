/**
 * Stands in for fast-check in every test (test/support/vitest/setup.ts), so that the environment chooses how often a property is tried.
 * Without COFFER_FUZZ_RUNS each property has a quarter of the runs that its test names. With it, each has at least so many:
 * 100 in the gate, which means the runs that the tests name, and 20,000 in `.ci/soak fuzz`.
 */
import * as real from '../../../node_modules/fast-check/lib/fast-check.js';

const leastRuns = process.env['COFFER_FUZZ_RUNS'];
const seed = process.env['COFFER_SEED'];

function runsOf(named = 100): number {
  return leastRuns === undefined ? Math.ceil(named / 4) : Math.max(Number(leastRuns), named);
}

export * from '../../../node_modules/fast-check/lib/fast-check.js';

// The tests import it, though no import names this file.

export function assert<Ts>(property: real.IAsyncProperty<Ts>, parameters?: real.Parameters<Ts>): Promise<void>;
export function assert<Ts>(property: real.IProperty<Ts>, parameters?: real.Parameters<Ts>): void;
export function assert<Ts>(property: real.IRawProperty<Ts>, parameters?: real.Parameters<Ts>): Promise<void> | void {
  return real.assert(property, {
    ...(seed === undefined ? {} : { seed: Number(seed) }),
    ...parameters,
    numRuns: runsOf(parameters?.numRuns),
  });
}

export default { ...real, assert };
