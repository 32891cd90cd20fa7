import * as fc from 'fast-check';
import { assert, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';

const least = process.env['COFFER_FUZZ_RUNS'];

function runsOf(check: typeof assert, numRuns?: number): number {
  let runs = 0;
  const counted = property(integer(), () => {
    runs += 1;
  });
  check(counted, numRuns === undefined ? {} : { numRuns });
  return runs;
}

describe.each([
  ['of the namespace', fc.assert],
  ['by its name', assert],
])('the runs of a property, where assert is imported %s', (_how, check) => {
  it.each([
    [undefined, 100, 10],
    [1_000, 1_000, 100],
    [40, 40, 10],
    [4, 4, 4],
  ])('are as COFFER_FUZZ_RUNS says, where the test names %s', (named, usual, few) => {
    expect(runsOf(check, named)).toBe(least === undefined ? few : Math.max(Number(least), usual));
  });
});
