/**
 * Stands in for fast-check in `.ci/soak fuzz`: the same properties, each with as many runs as the environment says, whatever the
 * test asks for.
 */
import * as real from '../../node_modules/fast-check/lib/fast-check.js';

const runs = Number(process.env['COFFER_FUZZ_RUNS']);
const seed = Number(process.env['COFFER_SEED'] ?? Date.now() % 1_000_000);

export * from '../../node_modules/fast-check/lib/fast-check.js';

export function assert<Ts>(property: real.IAsyncProperty<Ts>, parameters?: real.Parameters<Ts>): Promise<void>;
export function assert<Ts>(property: real.IProperty<Ts>, parameters?: real.Parameters<Ts>): void;
export function assert<Ts>(property: real.IRawProperty<Ts>, parameters?: real.Parameters<Ts>): Promise<void> | void {
  return real.assert(property, { seed, ...parameters, numRuns: Math.max(runs, parameters?.numRuns ?? 0) });
}

export default { ...real, assert };
