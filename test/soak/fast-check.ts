/**
 * Stands in for fast-check in `.ci/soak fuzz`: the same properties, each with as many runs as the environment says, whatever the
 * test asks for.
 */
import * as real from '../../node_modules/fast-check/lib/fast-check.js';

const runs = Number(process.env['COFFER_FUZZ_RUNS']);
const seed = Number(process.env['COFFER_SEED'] ?? Date.now() % 1_000_000);

export * from '../../node_modules/fast-check/lib/fast-check.js';

export const assert: typeof real.assert = (property, parameters) =>
  real.assert(property, { seed, ...parameters, numRuns: Math.max(runs, parameters?.numRuns ?? 0) });

export default { ...real, assert };
