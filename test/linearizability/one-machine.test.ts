import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { report } from '../support/report.ts';
import { checkRounds, summaryOf } from './run-clients.ts';
import { s3Register } from './s3-register.ts';

/** The gate asks for 10,000, `.ci/soak linearizability` for 1,000,000; `npm test` has time for these. */
const operations = Number(process.env['COFFER_OPERATIONS'] ?? 3_000);
const seed = Number(process.env['COFFER_SEED'] ?? Date.now() % 1_000_000);
const CLIENTS = 16;
const Bucket = 'registers';

describe('objects of one server with several threads', () => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await startServer({ env: { SVC_THREADS: '4' } });
    await untilReady(server);
    await s3Client(server).send(new CreateBucketCommand({ Bucket }));
  });

  afterAll(async () => {
    await server.stop();
  });

  it(
    `are linearizable in ${operations} operations of ${CLIENTS} clients, seed ${seed}`,
    async () => {
      const registers = Array.from({ length: CLIENTS }, () =>
        s3Register({ ...server, endpoint: server.s3, bucket: Bucket }),
      );
      const checked = await checkRounds({
        registers,
        operations,
        seed,
        keysAtATime: 4,
        onRound: (so) => console.log(summaryOf(so)),
      });
      for (const register of registers) register.close();
      report(`one machine: ${summaryOf(checked)}, seed ${seed}`);
      expect(checked.violations).toEqual([]);
      // Clients that never met would show nothing, and nor would those who were never told.
      expect(checked.overlapping).toBeGreaterThan(operations / 2);
      expect(checked.unknown).toBeLessThan(operations / 100);
    },
    60_000 + operations * 5,
  );
});
