/**
 * What random tests draw from. It is the same in each run, so that a run judges a change: COFFER_SEED draws something else, as `.ci/soak`
 * does each time.
 */
export const seed = Number(process.env['COFFER_SEED'] ?? 1);
