import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/store/temporary-folder.ts';
import { contentShown } from '../crash/compare.ts';
import { isObjectName } from '../crash/expected.ts';
import { clientOf } from '../crash/s3-client.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';
import { Inspector } from './inspector.ts';
import { report } from '../support/report.ts';
import { atEachCut, changeBoundaries, complaintsAt, flushBoundaries, type PowerCut, spread } from './power-cuts.ts';
import { compileRecorder, type Recording, recordServer } from './record-server.ts';
import { seed } from '../support/seed.ts';

const MINUTES = 60_000;
/** A test that went on after its timeout would replay into the folder of the next one, which then shows losses. */
const PATIENCE = 30 * MINUTES;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let recording: Recording;
const inspector = new Inspector();

beforeAll(async () => {
  folder = await temporaryFolder();
  recording = await recordServer({ folder: folder.path, library: compileRecorder(folder.path), seed, forMs: 8_000 });
  console.log(
    `${recording.history.answers.length} changes answered, ${recording.history.sightings.length} seen by readers, ` +
      `${recording.history.earlySightings.length} of them before the writer's answer, ${recording.bytes.length} bytes recorded`,
  );
  // With nothing answered and nothing seen, everything below would hold.
  expect(recording.history.answers.length).toBeGreaterThan(50);
  expect(recording.history.earlySightings.length).toBeGreaterThan(0);
}, 2 * MINUTES);

afterAll(async () => {
  inspector.stop();
  await folder.remove();
});

function afterAnswers(count: number): PowerCut[] {
  return spread(recording.history.answers, count).map((at) => ({ at }));
}

function afterSightings(count: number): PowerCut[] {
  return spread(recording.history.earlySightings, count).map((sighting) => ({ at: sighting.seen, sighting }));
}

/** `.ci/soak power-cut` asks for `all`, or for a number of them. */
function atFlushes(): readonly PowerCut[] {
  const all = flushBoundaries(recording);
  const wanted = process.env['COFFER_FLUSHES'] ?? '40';
  return wanted === 'all' ? all : spread(all, Number(wanted));
}

describe(`a server whose power is cut while clients write, seed ${seed}`, () => {
  it('keeps every answered object when nothing unflushed survived', { timeout: PATIENCE }, async () => {
    expect(await complaintsAt(recording, afterAnswers(30), inspector)).toEqual([]);
  });

  it('keeps them whichever part of the unflushed survived', { timeout: PATIENCE }, async () => {
    expect(await complaintsAt(recording, afterAnswers(30), inspector, { survives: new SeededRandom(seed) })).toEqual(
      [],
    );
  });

  it('shows nothing in part at any other moment, the first start included', { timeout: PATIENCE }, async () => {
    const random = new SeededRandom(seed);
    const anywhere = Array.from({ length: 20 }, () => ({ at: random.between(0, recording.bytes.length) }));
    const atTheStart = Array.from({ length: 10 }, () => ({ at: random.between(0, 40_000) }));
    expect(await complaintsAt(recording, [...anywhere, ...atTheStart], inspector)).toEqual([]);
    expect(await complaintsAt(recording, [...anywhere, ...atTheStart], inspector, { survives: random })).toEqual([]);
  });

  it('leaves a folder that opens, at every moment of the first start', { timeout: PATIENCE }, async () => {
    const firstAnswer = recording.history.answers[0] ?? 0;
    const cuts = changeBoundaries(recording).filter(({ at }) => at < firstAnswer);
    expect(cuts.length).toBeGreaterThan(20);
    for (let round = 0; round < 5; round += 1)
      expect(await complaintsAt(recording, cuts, inspector, { survives: new SeededRandom(seed + round) })).toEqual([]);
  });

  it('showed no reader an object before it was durable', { timeout: PATIENCE }, async () => {
    expect(await complaintsAt(recording, afterSightings(30), inspector)).toEqual([]);
  });

  it('keeps them at the end of a flush, whatever survived', { timeout: 60 * MINUTES }, async () => {
    const cuts = atFlushes();
    expect(cuts.length).toBeGreaterThan(20);
    const nothing = await complaintsAt(recording, cuts, inspector);
    const parts = await complaintsAt(recording, cuts, inspector, { survives: new SeededRandom(seed) });
    report(
      `${recording.history.answers.length} changes, ${recording.bytes.length} bytes recorded, power cut at ${cuts.length} ends of flushes, ` +
        `twice (nothing unflushed survived; any sectors of it did): ${nothing.length + parts.length} complaints, seed ${seed}`,
    );
    expect([...nothing, ...parts]).toEqual([]);
  });

  it('starts again by itself on what is left', { timeout: PATIENCE }, async () => {
    const { history } = recording;
    await atEachCut(recording, afterAnswers(2), {}, async (dataFolder, cut) => {
      const server = await startServer({ folder: dataFolder });
      try {
        await untilReady(server);
        const s3 = clientOf(server);
        for (const key of history.names.filter(isObjectName))
          expect(history.allowed(key, cut.at)).toContain(await contentShown(s3, key));
      } finally {
        await server.kill();
      }
    });
  });
});

describe('the same recording with a kind of flush left out shows', () => {
  it.each([
    ['of the records’ file', { flushesOf: /data\.mdb$/ }],
    ['of the records’ last page, made by its descriptor', { ofDescriptors: true }],
    ['of a blob’s file', { flushesOf: /\.part$/ }],
    ['of the folder that a blob’s name is in', { flushesOf: /\/blobs\/..$/ }],
    ['of the folder that those folders are in', { flushesOf: /\/blobs$/ }],
    ['of the folder that the records’ file is in', { flushesOf: /\/records$/ }],
    ['of the data folder', { flushesOf: /^data$/ }],
    ['of the folder above the data folder', { flushesOf: /^$/ }],
    ['of the format’s file', { flushesOf: /format\.json\.new$/ }],
  ])('a loss without the flush %s', { timeout: PATIENCE }, async (_what, leftOut) => {
    // Under load an answer may be noted when the next flush of the same file has done what this one left out.
    const cuts = afterAnswers('ofDescriptors' in leftOut ? 40 : 5);
    expect(await complaintsAt(recording, cuts, inspector, { leftOut })).not.toEqual([]);
  });

  it('that a reader had seen what was not durable', { timeout: PATIENCE }, async () => {
    const complaints = await complaintsAt(recording, afterSightings(10), inspector, {
      leftOut: { ofDescriptors: true },
    });
    expect(complaints.filter((complaint) => complaint.includes('a reader had seen'))).not.toEqual([]);
  });
});
