import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { inFullForm } from '../support/full-form.ts';
import { report } from '../support/report.ts';
import { VersionCheck } from './check-versions.ts';
import type { Operation, Register } from './operation.ts';
import { type Checked, checkRounds, summaryOf, timeLimit } from './run-clients.ts';
import { s3Register } from './s3-register.ts';
import type { S3RegisterOptions } from './s3-requests.ts';
import { subresourceRegister } from './subresource-register.ts';
import { seed } from '../support/seed.ts';

/** The gate asks for 10,000, `.ci/soak linearizability` for 1,000,000; `npm test` has time for these, and for two threads. */
const operations = Number(process.env['COFFER_OPERATIONS'] ?? 800);
const CLIENTS = 16;
/** Without conditions each order of the calls at a moment is possible: the search doubles with each client. */
const UNCONDITIONAL_CLIENTS = 6;
const Bucket = 'registers';
/** With versions and object lock. */
const LOCKED = 'registers-locked';
/** Versions, tags and retentions have a part of the operations each. */
const versioned = Math.ceil(operations / 5);

async function check(
  name: string,
  registers: readonly (Register & { close(): void })[],
  more: Pick<Parameters<typeof checkRounds>[0], 'operations' | 'checkStored'>,
): Promise<Checked> {
  const checked = await checkRounds({
    registers,
    seed,
    keysAtATime: 4,
    onRound: (so) => console.log(summaryOf(so)),
    ...more,
  });
  for (const register of registers) register.close();
  report(`${name}: ${summaryOf(checked)}, seed ${seed}`);
  expect(checked.violations).toEqual([]);
  // Clients that never met would show nothing, and nor would those who were never told.
  expect(checked.overlapping).toBeGreaterThan(more.operations / 2);
  expect(checked.unknown).toBeLessThan(more.operations / 100);
  return checked;
}

describe('one server with several threads', () => {
  let server: RunningServer;
  let s3: S3Client;
  const clients = <T>(client: (options: S3RegisterOptions) => T, bucket: string, count = CLIENTS) =>
    Array.from({ length: count }, () => client({ ...server, endpoint: server.s3, bucket }));

  beforeAll(async () => {
    server = await startServer({ env: { SVC_THREADS: String(inFullForm(4, 2)) } });
    await untilReady(server);
    s3 = s3Client(server);
    await s3.send(new CreateBucketCommand({ Bucket }));
    await s3.send(new CreateBucketCommand({ Bucket: LOCKED, ObjectLockEnabledForBucket: true }));
  });

  afterAll(async () => {
    s3.destroy();
    await server.stop();
  });

  it(
    `has linearizable objects in ${operations} operations of ${CLIENTS} clients, seed ${seed}`,
    { timeout: timeLimit(operations) },
    async () => {
      await check(
        'one machine',
        clients((options) => s3Register(options), Bucket),
        { operations },
      );
    },
  );

  it(
    `has linearizable objects with versions, and loses none of them, seed ${seed}`,
    { timeout: timeLimit(versioned) },
    async () => {
      const versions = new VersionCheck();
      const add: VersionCheck['add'] = (key, value, versionId) => versions.add(key, value, versionId);
      const registers = clients((options) => s3Register(options, add), LOCKED);
      const checkStored = (history: readonly Operation[]) => versions.violations(s3, LOCKED, history);
      await check('one machine, with versions', registers, { operations: versioned, checkStored });
      // Clients that were always refused would show nothing; of the 160 operations of npm test, some 50 are writes that are taken.
      expect(versions.versions).toBeGreaterThan(versioned / 8);
      report(
        `one machine, with versions: ${versions.versions} versions, each of one acknowledged write, in their order`,
      );
    },
  );

  it(`has linearizable tags and retentions of a version, seed ${seed}`, { timeout: timeLimit(versioned) }, async () => {
    const registers = clients((options) => subresourceRegister(options), LOCKED, UNCONDITIONAL_CLIENTS);
    await check('one machine, tags and retentions', registers, { operations: versioned });
  });
});
