import { createHash, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createLogger } from '../../platform/output/logger.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { removeQueuedBlobs } from '../../server/objects/garbage-collection/garbage-collection.ts';
import type { ObjectLayer } from '../../server/objects/contract/object-layer.ts';
import { compactSegments } from '../../server/objects/segments/compact-segments.ts';
import { sealWastefulSegments } from '../../server/objects/segments/seal-wasteful-segments.ts';
import type { BlobId } from '../../server/store/blob-store.ts';
import { openFilesBlobStore } from '../../server/store/files/blob-store.ts';
import { Faults, turn } from '../../server/store/memory/faults.ts';
import { MemoryRecordStore } from '../../server/store/memory/record-store.ts';
import { body, put, testLayer } from '../support/objects/test-layer.ts';
import { SimulatedDisk } from '../support/store/simulated-disk.ts';
import type { Condition, Register } from './operation.ts';
import { report } from '../support/report.ts';
import { checkRounds, summaryOf, timeLimit } from './run-clients.ts';
import { seed } from '../support/seed.ts';

/** `.ci/soak linearizability` asks for more. */
const operations = Number(process.env['COFFER_OPERATIONS'] ?? 1_200);
const CLIENTS = 12;
/** Milliseconds of the simulated clock in a turn of the event loop. A reader has a minute to open what it found: 20 turns. */
const TURN_MS = 3_000;
const log = createLogger({ name: 'test', level: 'silent' });

/** Bodies are packed: no value fits in a record. Each byte depends on the value. */
function bodyOf(value: string): Buffer {
  const hash = createHash('md5').update(value).digest();
  return Buffer.concat([Buffer.from(`${value}\n`), Buffer.alloc(20_000 + hash.readUInt16LE(0), hash)]);
}

const etagOf = (value: string) => createHash('md5').update(bodyOf(value)).digest('hex');

function conditionsOf(condition: Condition) {
  if (condition.kind === 'absent') return { ifNoneMatch: ['*'] };
  return condition.kind === 'holds' ? { ifMatch: [etagOf(condition.value)] } : {};
}

const isOne = (error: unknown, ...codes: readonly string[]) => error instanceof S3Error && codes.includes(error.code);

function registerOf(layer: ObjectLayer): Register {
  return {
    async get(key) {
      try {
        const bytes = await body(layer, 'bucket', key);
        const value = bytes.subarray(0, bytes.indexOf('\n')).toString();
        return { shown: bytes.equals(bodyOf(value)) ? value : `not a value: ${bytes.length} bytes` };
      } catch (error) {
        if (isOne(error, 'NoSuchKey')) return { shown: undefined };
        throw error;
      }
    },
    async put(key, value, condition) {
      try {
        await layer.putObject(put('bucket', key, bodyOf(value), { conditions: conditionsOf(condition) }));
        return 'done';
      } catch (error) {
        if (isOne(error, 'PreconditionFailed', 'NoSuchKey')) return 'refused';
        // Nothing was written.
        if (isOne(error, 'SlowDown')) return 'unknown';
        throw error;
      }
    },
    async delete(key) {
      await layer.deleteObject('bucket', key);
      return 'done';
    },
  };
}

/** Two servers over the same records and segments, and the background work of one of them. */
async function twoServers() {
  const clock = { now: Date.now() };
  const now = () => clock.now;
  const disk = new SimulatedDisk('/data', { now });
  const records = new MemoryRecordStore({
    faults: new Faults({ seed, latencyTicks: 1, lostAfter: 0.01, lostBefore: 0.01, conflict: 0.01 }),
  });
  const { keys } = testLayer();
  const servers = [1, 2, 3].map(() => {
    const blobs = openFilesBlobStore('/data', { fs: disk, now, segmentBytes: 512 * 1024 });
    return { blobs, layer: testLayer({ records, blobs: blobs as never, keys, inlineLimit: 100, clock: now }).layer };
  });
  const [one, other, background] = servers;
  if (one === undefined || other === undefined || background === undefined) throw new Error('there are three');
  await one.layer.createBucket('bucket', { location: '' });
  const unmovable = new Set<BlobId>();
  const { blobs, layer } = background;
  const move = layer.moveBody.bind(layer);
  return {
    clock,
    layers: [one.layer, other.layer],
    unmovable,
    removals: () => removeQueuedBlobs({ records, blobs, now: now() }),
    seal: () =>
      Promise.all(servers.map((server) => sealWastefulSegments({ records, blobs: server.blobs, maxGarbage: 0.05 }))),
    compact: () => compactSegments({ records, blobs, move, maxGarbage: 0.05, unmovable, log, now: now() }),
    random: randomBytes,
  };
}

it(
  `objects are linearizable while compaction moves them all the time, seed ${seed}`,
  { timeout: timeLimit(operations) },
  async () => {
    const { clock, layers, unmovable, removals, seal, compact } = await twoServers();
    const running = { clients: true };
    const done = { moved: 0, removed: 0 };
    const time = (async () => {
      for (; running.clients; await turn()) clock.now += TURN_MS;
    })();
    const repeat = async (work: () => Promise<unknown>) => {
      for (; running.clients; await turn()) await work();
    };
    const background = Promise.all([
      repeat(removals),
      repeat(seal),
      repeat(async () => {
        const { moved, removed } = await compact();
        done.moved += moved;
        done.removed += removed;
      }),
    ]);
    const registers = Array.from({ length: CLIENTS }, (_, index) => registerOf(layers[index % 2] as ObjectLayer));
    const clients = checkRounds({ registers, operations, seed, keysAtATime: 200 }).finally(() => {
      running.clients = false;
    });
    const [checked] = await Promise.all([clients, time, background]);
    report(
      `one machine, with compaction: ${summaryOf(checked)}, ${done.moved} bodies moved, ${done.removed} segments removed, seed ${seed}`,
    );
    expect(checked.violations).toEqual([]);
    expect(checked.overlapping).toBeGreaterThan(operations / 100);
    expect(unmovable.size).toBe(0);
    expect(done.moved).toBeGreaterThan(10);
    expect(done.removed).toBeGreaterThan(1);
  },
);
