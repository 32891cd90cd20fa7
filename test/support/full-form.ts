/**
 * The gate runs tests in their full form (COFFER_FUZZ_RUNS, .ci/steps.js). `npm test` runs a part of each, so that it ends in minutes:
 * fewer operations, faults and sizes of the same kinds.
 */
export const fullForm = process.env['COFFER_FUZZ_RUNS'] !== undefined;

/** Returns the first number in the full form, and the second in `npm test`. */
export function inFullForm(full: number, part: number): number {
  return fullForm ? full : part;
}
