import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../platform/output/logger.ts';
import { put, testLayer } from '../../../test/support/objects/test-layer.ts';
import { SimulatedDisk } from '../../../test/support/store/simulated-disk.ts';
import type { BlobId, SegmentId } from '../../store/blob-store.ts';
import { openFilesBlobStore } from '../../store/files/blob-store.ts';
import { decodeKey, within } from '../../store/keys.ts';
import { Faults } from '../../store/memory/faults.ts';
import { MemoryRecordStore } from '../../store/memory/record-store.ts';
import { PAGE, paddedLength, placeOf } from '../../store/packed-id.ts';
import { removeQueuedBlobs } from '../garbage-collection/garbage-collection.ts';
import { ORPHAN_GRACE_PERIOD } from '../garbage-collection/orphan-grace-period.ts';
import type { BlobOwner } from '../contract/objects.ts';
import type { ObjectLayer } from '../contract/object-layer.ts';
import { decodeRecord } from '../records/record-format.ts';
import { compactSegments } from './compact-segments.ts';
import { keptUnknown, readAllGarbage } from '../garbage-collection/segment-garbage.ts';
import { sealWastefulSegments } from './seal-wasteful-segments.ts';

const SEGMENT = 512 * 1024;
const MAX_GARBAGE = 0.25;
/** The share of a full segment that may be garbage in the open segment of each thread. */
const OPEN = SEGMENT / 32;
const KEYS = 8;
/** Two HTTP threads and the background thread. */
const THREADS = 3;
const SECOND = 1_000;
const log = createLogger({ name: 'test', level: 'silent' });

/** Three threads over the same records and the same disk. Faults change the order in which concurrent steps run. */
async function opened(seed: number) {
  const clock = { now: Date.UTC(2026, 0, 1) };
  const now = () => clock.now;
  const disk = new SimulatedDisk('/data', { now });
  const records = new MemoryRecordStore({ faults: new Faults({ seed, latencyTicks: 2, conflict: 0.05 }) });
  const { keys } = testLayer();
  const thread = () => {
    const blobs = openFilesBlobStore('/data', { fs: disk, now, segmentBytes: SEGMENT });
    return { blobs, layer: testLayer({ records, blobs: blobs as never, keys, inlineLimit: 100, clock: now }).layer };
  };
  const threads = Array.from({ length: THREADS }, thread);
  const [first, second, background] = threads;
  if (first === undefined || second === undefined || background === undefined) throw new Error('there are three');
  await first.layer.createBucket('bucket', { location: '' });
  const { blobs, layer } = background;
  const unmovable = new Set<BlobId>();

  async function placesIn(table: 'r' | 'x') {
    const bytes = new Map<SegmentId, number>();
    for await (const item of records.scan(within(table))) {
      const place = item.kind === 'entry' ? placeOf(String(decodeKey(item.key)[1]) as BlobId) : undefined;
      if (place === undefined) continue;
      bytes.set(place.segment, (bytes.get(place.segment) ?? 0) + paddedLength(place.length));
    }
    return bytes;
  }

  return {
    clock,
    layers: [first.layer, second.layer] as const,
    mover: layer,
    removals: () => removeQueuedBlobs({ records, blobs, now: now() }),
    seal: () =>
      Promise.all(threads.map((one) => sealWastefulSegments({ records, blobs: one.blobs, maxGarbage: MAX_GARBAGE }))),
    compact: () =>
      compactSegments({
        records,
        blobs,
        move: layer.moveBody.bind(layer),
        maxGarbage: MAX_GARBAGE,
        unmovable,
        log,
        now: now(),
      }),
    /** The bytes of each segment: as its file has them, as its records say, and as they are counted. */
    async walk() {
      const [owned, queued, counted] = [await placesIn('r'), await placesIn('x'), await readAllGarbage(records)];
      const segments = await Array.fromAsync(blobs.segments?.list() ?? []);
      return segments.map(({ segment, size }) => ({
        size: paddedLength(size),
        live: owned.get(segment) ?? 0,
        unused: paddedLength(size) - (owned.get(segment) ?? 0) - (queued.get(segment) ?? 0),
        counted: counted.get(segment)?.bytes ?? 0,
        kept: keptUnknown(counted.get(segment) ?? { bytes: 0 }, now()),
      }));
    },
    /** Moves the body of an object, as compaction does. */
    async move(key: string) {
      for await (const item of records.scan(within('r'))) {
        if (item.kind !== 'entry') continue;
        const owner = decodeRecord(item.value, 'an owner') as BlobOwner;
        if (owner.key === key) await layer.moveBody(String(decodeKey(item.key)[1]) as BlobId, owner);
      }
    },
  };
}

type Test = Awaited<ReturnType<typeof opened>>;

type Step =
  | { readonly kind: 'put' | 'refused' | 'damaged' | 'broken'; readonly key: number; readonly size: number }
  | { readonly kind: 'delete' | 'move'; readonly key: number }
  | { readonly kind: 'removals' | 'seal' | 'compact' };

const key = fc.integer({ min: 0, max: KEYS - 1 });
const size = fc.integer({ min: 1_000, max: 150_000 });
const changes = [
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('put'), key, size }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('delete', 'move'), key }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('removals', 'seal', 'compact') }) },
] as const;
const failures = { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('refused', 'damaged'), key, size }) };
const broken = { weight: 2, arbitrary: fc.record({ kind: fc.constant('broken'), key, size }) };

/** Steps that run at the same time, and the seconds before the next ones. */
const plan = (...steps: readonly { readonly weight: number; readonly arbitrary: fc.Arbitrary<unknown> }[]) =>
  fc.record({
    seed: fc.integer(),
    groups: fc.array(
      fc.record({
        steps: fc.array(fc.oneof(...steps) as fc.Arbitrary<Step>, { minLength: 1, maxLength: 5 }),
        seconds: fc.integer({ min: 0, max: 70 }),
      }),
      { minLength: 1, maxLength: 40 },
    ),
  });

/** A body whose client goes away after half of it. */
async function* half(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes.subarray(0, bytes.length / 2);
  await Promise.resolve();
  throw new Error('the client went away');
}

async function run(test: Test, layer: ObjectLayer, step: Step): Promise<unknown> {
  switch (step.kind) {
    case 'put':
      return layer.putObject(put('bucket', `k${step.key}`, randomBytes(step.size)));
    case 'broken': {
      const bytes = randomBytes(step.size);
      return refused(layer.putObject(put('bucket', `k${step.key}`, bytes, { body: half(bytes) })));
    }
    case 'damaged':
      return refused(
        layer.putObject(
          put('bucket', `k${step.key}`, randomBytes(step.size), { digests: { md5: 'AAAAAAAAAAAAAAAAAAAAAA==' } }),
        ),
      );
    case 'refused': {
      // The object comes while the body does.
      const bytes = randomBytes(step.size);
      const late = async function* () {
        await layer.putObject(put('bucket', `k${step.key}`, 'small'));
        yield bytes;
      };
      const conditions = { ifNoneMatch: ['*'] };
      return refused(layer.putObject(put('bucket', `k${step.key}`, bytes, { body: late(), conditions })));
    }
    case 'delete':
      return layer.deleteObject('bucket', `k${step.key}`);
    case 'move':
      return test.move(`k${step.key}`);
    case 'removals':
    case 'seal':
    case 'compact':
      return test[step.kind]();
  }
}

const refused = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    () => undefined,
  );

async function runGroup(test: Test, steps: readonly Step[]): Promise<void> {
  // The lease lets one round of each kind run at a time.
  const once = steps.filter((step, at) => 'key' in step || steps.findIndex(({ kind }) => kind === step.kind) === at);
  await Promise.all(once.map((step, at) => run(test, test.layers[at % 2] ?? test.layers[0], step)));
}

/** Runs the background work as the server does, for minutes. */
async function settle(test: Test, minutes: number): Promise<void> {
  for (let second = 0; second < minutes * 60; second += 10) {
    test.clock.now += 10 * SECOND;
    await test.seal();
    if (second % 30 !== 0) continue;
    await test.removals();
    await test.compact();
  }
}

function sums(segments: Awaited<ReturnType<Test['walk']>>) {
  const sum = (of: (one: (typeof segments)[number]) => number) => segments.reduce((all, one) => all + of(one), 0);
  return { size: sum((one) => one.size), live: sum((one) => one.live) };
}

/**
 * Asserts that what the segments have besides live bodies is within its bound. A segment with bytes that the records do not know stays for a
 * day, with all that is in it.
 */
async function expectBound(test: Test, { includesUnknown = false } = {}): Promise<void> {
  const segments = await test.walk();
  const { size: bytes, live } = sums(segments.filter(({ kept }) => includesUnknown || kept === 0));
  expect(bytes - live).toBeLessThanOrEqual(MAX_GARBAGE * bytes + THREADS * (OPEN + PAGE));
}

/** Milliseconds for the 20,000 runs of `.ci/soak fuzz`, as in vitest.config.ts: 200 take up to 22 s on a busy machine. */
const soakMs = 3_600_000;

describe('the garbage of a segment', () => {
  it('is counted as all of its records show it, after each step', { timeout: soakMs }, async () => {
    await fc.assert(
      fc.asyncProperty(plan(...changes, failures), async ({ seed, groups }) => {
        const test = await opened(seed);
        for (const { steps, seconds } of groups) {
          await runGroup(test, steps);
          for (const { unused, counted } of await test.walk()) {
            // The file ends with the last byte of its last body, and not with its page.
            expect(Math.abs(unused - counted)).toBeLessThan(PAGE);
          }
          test.clock.now += seconds * SECOND;
        }
      }),
      { numRuns: 200 },
    );
  });

  it(
    'is within its bound five minutes after the last change, and all of it after two days',
    { timeout: soakMs },
    async () => {
      await fc.assert(
        fc.asyncProperty(plan(...changes, failures, broken), async ({ seed, groups }) => {
          const test = await opened(seed);
          for (const { steps, seconds } of groups) {
            await runGroup(test, steps);
            test.clock.now += seconds * SECOND;
          }
          await settle(test, 5);
          await expectBound(test);
          // A segment that a thread still had open is counted after the first day only.
          for (let day = 0; day < 2; day += 1) {
            test.clock.now += ORPHAN_GRACE_PERIOD;
            await settle(test, 5);
          }
          await expectBound(test, { includesUnknown: true });
        }),
        { numRuns: 200 },
      );
    },
  );
});
