import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createLogger } from '../../../platform/output/logger.ts';
import { inFullForm } from '../../../test/support/full-form.ts';
import { body, put, testLayer } from '../../../test/support/objects/test-layer.ts';
import { PowerCut, SimulatedDisk } from '../../../test/support/store/simulated-disk.ts';
import type { BlobId } from '../../store/blob-store.ts';
import { openFilesBlobStore } from '../../store/files/blob-store.ts';
import { MemoryRecordStore } from '../../store/memory/record-store.ts';
import { removeQueuedBlobs } from '../garbage-collection/garbage-collection.ts';
import { compactSegments } from './compact-segments.ts';
import { sealWastefulSegments } from './seal-wasteful-segments.ts';

const MINUTE = 60_000;
const log = createLogger({ name: 'test', level: 'silent' });
const { keys } = testLayer();

/** A server over a disk and records, on a clock of the test. */
function serverOn(disk: SimulatedDisk, records: MemoryRecordStore, clock: { now: number }) {
  const now = () => clock.now;
  const blobs = openFilesBlobStore('/data', { fs: disk, now, segmentBytes: 64 * 1024 });
  const { layer } = testLayer({ records, blobs: blobs as never, keys, inlineLimit: 100, clock: now });
  const unmovable = new Set<BlobId>();
  return {
    layer,
    segments: async () => (await Array.fromAsync(blobs.segments?.list() ?? [])).length,
    round: async () => {
      clock.now += 2 * MINUTE;
      await removeQueuedBlobs({ records, blobs, now: now() });
      await sealWastefulSegments({ records, blobs, maxGarbage: 0.25 });
      const move = layer.moveBody.bind(layer);
      return compactSegments({ records, blobs, move, maxGarbage: 0.25, unmovable, log, now: now() });
    },
  };
}

/** The records of a machine whose power goes with that of its disk. */
class CutRecords extends MemoryRecordStore {
  isCut = () => false;

  override commit(...args: Parameters<MemoryRecordStore['commit']>): ReturnType<MemoryRecordStore['commit']> {
    return this.isCut() ? Promise.reject(new PowerCut('before a commit')) : super.commit(...args);
  }
}

interface Run {
  readonly disk: SimulatedDisk;
  readonly records: CutRecords;
  readonly clock: { now: number };
  /** What clients were told: undefined of a deleted object. */
  readonly told: Map<string, Buffer | undefined>;
  readonly moved: number;
  readonly removed: number;
}

/** Fills some segments, deletes and replaces half of the bodies, and compacts, until the power is cut. */
async function workload(cutBefore = Infinity): Promise<Run> {
  const clock = { now: Date.now() };
  const disk = new SimulatedDisk('/data', { cutBefore, now: () => clock.now });
  const records = new CutRecords();
  records.isCut = () => disk.steps.length >= cutBefore;
  const { layer, round } = serverOn(disk, records, clock);
  const told: Run['told'] = new Map();
  let [moved, removed] = [0, 0];
  const write = async (key: string) => {
    const bytes = randomBytes(9_000);
    await layer.putObject(put('bucket', key, bytes));
    told.set(key, bytes);
  };
  try {
    await layer.createBucket('bucket', { location: '' });
    for (let n = 0; n < 16; n += 1) await write(`k${n}`);
    for (const n of [0, 2, 4, 9]) {
      await layer.deleteObject('bucket', `k${n}`);
      told.set(`k${n}`, undefined);
    }
    for (const n of [1, 6]) await write(`k${n}`);
    for (let rounds = 0; rounds < 4; rounds += 1) {
      const done = await round();
      moved += done.moved;
      removed += done.removed;
    }
  } catch (error) {
    // The layer reports the cut in errors of its own.
    if (!records.isCut()) throw error;
  }
  records.isCut = () => false;
  return { disk, records, clock, told, moved, removed };
}

async function complaints({ layer }: ReturnType<typeof serverOn>, { told }: Run): Promise<string[]> {
  const found: string[] = [];
  for (const [key, bytes] of told) {
    const shown = await body(layer, 'bucket', key).catch((error: unknown) => error);
    if (bytes === undefined ? !(shown instanceof Error) : !(Buffer.isBuffer(shown) && shown.equals(bytes))) {
      found.push(`${key}: ${String(shown).slice(0, 200)}`);
    }
  }
  return found;
}

it(
  'a power cut before any step of compaction loses no body, and compaction goes on after it',
  { timeout: 300_000 },
  async () => {
    const whole = await workload();
    expect(whole.moved).toBeGreaterThan(3);
    expect(whole.removed).toBeGreaterThan(1);
    // `npm test` cuts the power before every fourth step.
    for (let cutBefore = whole.disk.steps.length; cutBefore >= 0; cutBefore -= inFullForm(1, 4)) {
      for (const names of ['lost', 'kept'] as const) {
        const run = await workload(cutBefore);
        const next = serverOn(run.disk.afterPowerCut(names), run.records, run.clock);
        expect(await complaints(next, run), `cut before step ${cutBefore}, names ${names}`).toEqual([]);
        run.clock.now += 25 * 60 * MINUTE;
        for (let rounds = 0; rounds < 4; rounds += 1) await next.round();
        expect(await complaints(next, run), `compacted after a cut before step ${cutBefore}`).toEqual([]);
        for (const key of run.told.keys()) await next.layer.deleteObject('bucket', key).catch(() => undefined);
        // Bodies that no commit followed stay for a day.
        run.clock.now += 25 * 60 * MINUTE;
        for (let rounds = 0; rounds < 3; rounds += 1) await next.round();
        expect(await next.segments(), `segments left after a cut before step ${cutBefore}`).toBe(0);
      }
    }
  },
);
