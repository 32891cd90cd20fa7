import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { type NullStep, ReplicatedHistory, ruleChanges, type Step } from '../support/replication/replicated-history.ts';

const place = {
  at: fc.nat({ max: 2 }),
  which: fc.nat({ max: 4 }),
  // Several steps have the same time.
  passes: fc.nat({ max: 2 }),
};
const to = fc.nat({ max: 2 });
const hours = fc.integer({ min: 1, max: 3 });
const bypass = fc.boolean();

function kind<Kind extends Step['kind']>(name: Kind) {
  return { ...place, kind: fc.constant(name) };
}

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record(kind('put')) },
  { weight: 6, arbitrary: fc.record({ ...kind('deliver'), to, max: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 3, arbitrary: fc.record({ ...kind('tag'), value: fc.constantFrom('x', 'y') }) },
  { weight: 3, arbitrary: fc.record({ ...kind('hold'), on: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ ...kind('comply'), hours }) },
  { weight: 3, arbitrary: fc.record({ ...kind('govern'), hours, bypass }) },
  { weight: 1, arbitrary: fc.record({ ...kind('lift'), bypass }) },
  { weight: 3, arbitrary: fc.record({ ...kind('remove'), bypass }) },
  { weight: 2, arbitrary: fc.record({ ...place, kind: fc.constantFrom('marker', 'copy', 'heal', 'hour') }) },
  { weight: 2, arbitrary: fc.record({ ...place, kind: fc.constantFrom('expire', 'expire current', 'lose') }) },
  { weight: 2, arbitrary: fc.record({ ...kind('cut'), to }) },
  { weight: 2, arbitrary: fc.record({ ...kind('resync'), to }) },
  {
    weight: 1,
    arbitrary: fc.record({
      ...kind('rules'),
      change: fc.constantFrom(...(Object.keys(ruleChanges) as (keyof typeof ruleChanges)[])),
    }),
  },
);

const nullStep: fc.Arbitrary<NullStep> = fc.record({
  at: place.at,
  which: place.which,
  kind: fc.constantFrom('put', 'put', 'marker'),
});

async function run(servers: number, before: readonly NullStep[], steps: readonly Step[]): Promise<void> {
  const history = new ReplicatedHistory();
  await history.start(servers, before);
  for (const one of steps) await history.take(one);
  await history.end();
  await history.check();
  await history.endWithResyncs();
  await history.check();
  await history.checkEverywhere();
}

/** Minimal histories that once went wrong. */
const found: readonly (readonly [
  what: string,
  servers: number,
  before: readonly NullStep[],
  steps: readonly Step[],
])[] = [
  [
    'a removal that the other side refuses, before a change of another version of the key',
    2,
    [],
    [
      { at: 0, which: 0, passes: 0, kind: 'put' },
      { at: 0, which: 0, passes: 0, kind: 'put' },
      { at: 0, which: 0, passes: 0, kind: 'deliver', to: 1, max: 4 },
      { at: 0, which: 3, passes: 0, kind: 'remove', bypass: false },
      { at: 1, which: 3, passes: 0, kind: 'comply', hours: 1 },
      { at: 0, which: 0, passes: 0, kind: 'comply', hours: 1 },
    ],
  ],
  [
    'a null version of each side, of which one is removed',
    3,
    [
      { at: 0, which: 0, kind: 'put' },
      { at: 1, which: 0, kind: 'put' },
      { at: 2, which: 0, kind: 'put' },
    ],
    [
      { at: 1, which: 0, passes: 0, kind: 'govern', hours: 1, bypass: false },
      { at: 0, which: 0, passes: 0, kind: 'remove', bypass: false },
      { at: 1, which: 0, passes: 0, kind: 'deliver', to: 0, max: 1 },
      { at: 1, which: 0, passes: 0, kind: 'deliver', to: 1, max: 1 },
    ],
  ],
];

it.each(found)('%s', async (_what, servers, before, steps) => {
  await expect(run(servers, before, steps)).resolves.toBeUndefined();
});

// 150 histories of each, of which npm test runs a tenth of what is named: COFFER_FUZZ_RUNS is the least number at night.
const numRuns = process.env['COFFER_FUZZ_RUNS'] === undefined ? 1_500 : 150;

it.each([
  ['two servers', 2],
  ['three servers', 3],
])(
  '%s agree after any history, keep every lock, and say COMPLETED of nothing that is not there',
  async (_what, servers) => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.constant([]), fc.array(nullStep, { minLength: 1, maxLength: 3 })),
        fc.array(step, { minLength: 4, maxLength: 28 }),
        (before, steps) => run(servers, before, steps),
      ),
      { numRuns },
    );
  },
  1_800_000,
);
