import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../server/store/temporary-folder.ts';
import { type RunningServer, startServer, untilReady } from '../harness/start-server.ts';
import { complaintsAbout } from './compare.ts';
import { ExpectedObjects } from './expected-objects.ts';
import { clientOf } from './s3-client.ts';
import { SeededRandom } from './seeded-random.ts';
import { BUCKET, writeUntilGone } from './writers.ts';

/** `.ci/run` asks for 50; `npm test` has time for these. */
const kills = Number(process.env['COFFER_KILLS'] ?? 6);
const seed = Number(process.env['COFFER_SEED'] ?? Date.now() % 1_000_000);
const WRITERS = 8;

describe('a server that is killed while clients write', () => {
  let server: RunningServer;
  const folder = temporaryFolder();

  async function start(): Promise<void> {
    const { path } = await folder;
    server = await startServer({ folder: join(path, 'data'), env: { NODE_COMPILE_CACHE: join(path, 'compiled') } });
    await untilReady(server, 60_000);
  }

  afterAll(async () => {
    await server.kill();
    await (await folder).remove();
  });

  it(
    `shows every acknowledged object whole and nothing half-written after each of ${kills} kills, seed ${seed}`,
    async () => {
      const random = new SeededRandom(seed);
      const expected = new ExpectedObjects();
      await start();
      await clientOf(server).send(new CreateBucketCommand({ Bucket: BUCKET }));
      // Only a server that ends by itself leaves its compiled code for the next start.
      await server.stop();
      for (let kill = 0; kill <= kills; kill += 1) {
        await start();
        const s3 = clientOf(server);
        expect(await complaintsAbout(s3, expected), `after kill ${kill} of seed ${seed}`).toEqual([]);
        if (kill === kills) break;
        const writers = Array.from({ length: WRITERS }, (_, index) =>
          writeUntilGone(s3, `writer-${index}`, new SeededRandom(random.between(0, 2 ** 30)), expected),
        );
        await sleep(random.between(20, 700));
        await server.kill();
        await Promise.all(writers);
        s3.destroy();
      }
      // A run in which nothing was acknowledged would show nothing.
      expect(expected.acknowledgements).toBeGreaterThan(kills * 5);
      console.log(`${kills} kills, ${expected.acknowledgements} acknowledged changes, seed ${seed}`);
    },
    30_000 + kills * 10_000,
  );
});
