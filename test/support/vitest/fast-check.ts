/**
 * Replaces fast-check in every test (test/support/vitest/setup.ts), so that the environment chooses how often a property is tried.
 * Without COFFER_FUZZ_RUNS a property has a tenth of the runs that its test names, and at least ten if the test names ten. COFFER_FUZZ_RUNS is the
 * minimum for each property: 100 in the gate, where most tests name as many, and 20,000 in `.ci/soak fuzz`. What is drawn is the same in each
 * run, unless COFFER_SEED draws something else.
 */
import * as real from '../../../node_modules/fast-check/lib/fast-check.js';
import { seed } from '../seed.ts';

const leastRuns = process.env['COFFER_FUZZ_RUNS'];

real.configureGlobal({ seed });

function runsOf(named = 100): number {
  return leastRuns === undefined
    ? Math.max(Math.min(named, 10), Math.ceil(named / 10))
    : Math.max(Number(leastRuns), named);
}

export * from '../../../node_modules/fast-check/lib/fast-check.js';

// The tests import it, though no import names this file.

export function assert<Ts>(property: real.IAsyncProperty<Ts>, parameters?: real.Parameters<Ts>): Promise<void>;
export function assert<Ts>(property: real.IProperty<Ts>, parameters?: real.Parameters<Ts>): void;
export function assert<Ts>(property: real.IRawProperty<Ts>, parameters?: real.Parameters<Ts>): Promise<void> | void {
  return real.assert(property, {
    ...parameters,
    numRuns: runsOf(parameters?.numRuns),
  });
}

const surrogates = { first: 0xd800, count: 0x800 } as const;

/** One code point, of all but the surrogates. */
const codePoint = real.integer({ min: 0, max: 0x10_ffff - surrogates.count }).map(
  (at) => String.fromCodePoint(at < surrogates.first ? at : at + surrogates.count),
  (character) => {
    const at = typeof character === 'string' ? character.codePointAt(0) : undefined;
    if (at === undefined || String.fromCodePoint(at) !== character) throw new Error('not one code point');
    if (at >= surrogates.first && at < surrogates.first + surrogates.count) throw new Error('a surrogate');
    return at < surrogates.first ? at : at - surrogates.count;
  },
);

/** The first string of `binary` units costs each process a second in fast-check, which makes a table of all code points. */
export function string(constraints: real.StringConstraints = {}): real.Arbitrary<string> {
  return real.string(constraints.unit === 'binary' ? { ...constraints, unit: codePoint } : constraints);
}

export default { ...real, assert, string };
