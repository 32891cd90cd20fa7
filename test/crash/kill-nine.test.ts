import { CreateBucketCommand, PutBucketEncryptionCommand } from '@aws-sdk/client-s3';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/store/temporary-folder.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { report } from '../support/report.ts';
import { complaintsAbout } from './compare.ts';
import { ExpectedObjects, ExpectedUploads, BUCKET_THERE } from './expected.ts';
import { type KeyService, startKeyService } from '../support/server/keysvc-process.ts';
import { clientOf } from './s3-client.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { verifyFolder, verifySweptFolder } from './verify-folder.ts';
import { writeUntilGone } from './writers.ts';
import { BUCKET, VERSIONS } from './writing.ts';
import { seed } from '../support/seed.ts';

/** `.ci/run` asks for 3, and for 12 when the stores changed; `.ci/soak kills` for 1,000. */
const kills = Number(process.env['COFFER_KILLS'] ?? 1);
const SEALED = 'crash-sealed';
const WRITERS = 9;
const BUCKETS = [BUCKET, SEALED, VERSIONS];
const bucketOf = (writer: number) => BUCKETS[writer % BUCKETS.length] ?? BUCKET;

describe('a server that is killed while clients write', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let keyService: KeyService;
  let server: RunningServer | undefined;
  const random = new SeededRandom(seed);
  const expected = new ExpectedObjects();
  const uploads = new ExpectedUploads();
  let stopping = false;
  const counts = { whileServing: 0, whileStarting: 0, whileStopping: 0 };

  const dataFolder = () => join(folder.path, 'data');
  const options = () => ({
    folder: dataFolder(),
    env: keyService.env,
  });

  async function start(): Promise<RunningServer> {
    server = await startServer(options());
    await untilReady(server, 60_000);
    return server;
  }

  /** From the first instruction to the first answers: a start takes about half a second. */
  async function killWhileStarting(): Promise<void> {
    counts.whileStarting += 1;
    const after = random.between(0, 900);
    let exited: Promise<unknown> = Promise.resolve();
    const starting = startServer({
      ...options(),
      onSpawned(child) {
        exited = once(child, 'exit');
        setTimeout(() => child.kill('SIGKILL'), after);
      },
    });
    await Promise.allSettled([starting]);
    await exited;
  }

  async function killWhileServing(running: RunningServer): Promise<void> {
    counts.whileServing += 1;
    await sleep(random.between(20, 900));
    if (random.between(1, 8) === 1) {
      counts.whileStopping += 1;
      stopping = true;
      process.kill(running.pid, 'SIGTERM');
      await sleep(random.between(0, 100));
    }
    await running.kill();
    stopping = false;
  }

  beforeAll(async () => {
    folder = await temporaryFolder();
    await mkdir(join(folder.path, 'keys'));
    keyService = await startKeyService(join(folder.path, 'keys'));
    const s3 = clientOf(await start());
    for (const bucket of BUCKETS) {
      expected.begin(`${bucket}/`, BUCKET_THERE);
      await s3.send(new CreateBucketCommand({ Bucket: bucket, ObjectLockEnabledForBucket: bucket === VERSIONS }));
      expected.acknowledge(`${bucket}/`);
    }
    await s3.send(
      new PutBucketEncryptionCommand({
        Bucket: SEALED,
        ServerSideEncryptionConfiguration: {
          Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
        },
      }),
    );
    // The first kill is of a server that finds stores that one has closed.
    await server?.stop();
  });

  afterAll(async () => {
    await server?.kill();
    await keyService.stop();
    await folder.remove();
  });

  it(
    `shows every acknowledged state and nothing half-done after each of ${kills} kills, seed ${seed}`,
    async () => {
      let orphans = 0;
      const trouble: string[] = [];
      for (let kill = 1; kill <= kills; kill += 1) {
        const running = await start();
        const s3 = clientOf(running);
        expect(await complaintsAbout(s3, expected, uploads), `before kill ${kill} of seed ${seed}`).toEqual([]);
        const writers = Array.from({ length: WRITERS }, (_, index) =>
          writeUntilGone({
            s3,
            writer: `writer-${index}`,
            bucket: bucketOf(index),
            versions: bucketOf(index) === VERSIONS,
            random: new SeededRandom(random.between(0, 2 ** 30)),
            witness: expected,
            uploads,
            onTrouble(status, code) {
              // While it stops it says so.
              if (!stopping) trouble.push(`${status} ${code}`);
            },
          }),
        );
        await killWhileServing(running);
        await Promise.all(writers);
        s3.destroy();
        const inFlight = expected.doubts + uploads.doubts;
        while (kill < kills && random.between(1, 4) === 1) {
          await killWhileStarting();
          kill += 1;
        }
        const found = await verifyFolder(dataFolder());
        expect(found.complaints, `after kill ${kill} of seed ${seed}`).toEqual([]);
        // Each request that was not answered can have left one body, and no other one can.
        expect(found.orphans - orphans, `orphans of kill ${kill} of seed ${seed}`).toBeLessThanOrEqual(inFlight);
        orphans = found.orphans;
      }
      const last = await start();
      expect(await complaintsAbout(clientOf(last), expected, uploads), `after the last kill`).toEqual([]);
      await last.stop();
      expect((await verifySweptFolder(dataFolder())).complaints).toEqual([]);
      const afterSweep = await start();
      expect(await complaintsAbout(clientOf(afterSweep), expected, uploads), 'after the sweep').toEqual([]);
      // Nothing was in the way of the server but the kills; and a run in which nothing was acknowledged would show nothing.
      expect(trouble).toEqual([]);
      expect(expected.acknowledgements).toBeGreaterThan(0);
      report(
        `${counts.whileServing + counts.whileStarting} kills (${counts.whileServing} under load, ${counts.whileStopping} of them while ` +
          `stopping, ${counts.whileStarting} while starting), ${expected.acknowledgements} acknowledged changes, ` +
          `${orphans} bodies without an owner, all swept, 0 complaints, seed ${seed}`,
      );
    },
    60_000 + kills * 12_000,
  );
});
