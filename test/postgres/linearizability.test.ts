import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import type { RunningServer } from '../support/server/start-server.ts';
import { type Checked, checkRounds, summaryOf, timeLimit } from '../linearizability/run-clients.ts';
import { VersionCheck } from '../linearizability/check-versions.ts';
import { s3Register } from '../linearizability/s3-register.ts';
import { type Deployment, newDeployment } from '../replicas/deployment.ts';
import { report } from '../support/report.ts';
import { seed } from '../support/seed.ts';

/** `.ci/soak linearizability` asks for 1,000,000. */
const operations = Number(process.env['COFFER_OPERATIONS'] ?? 5_000);
const CLIENTS = 16;
const Bucket = 'registers';
/** With versions and object lock. */
const LOCKED = 'registers-locked';
const versioned = Math.ceil(operations / 5);

describe('objects of two servers over one PostgreSQL', () => {
  let deployment: Deployment;
  let servers: readonly RunningServer[];
  let s3: S3Client;

  beforeAll(async () => {
    deployment = await newDeployment();
    servers = await Promise.all([deployment.start(), deployment.start()]);
    const [first] = servers;
    if (first === undefined) throw new Error('no server');
    s3 = s3Client(first);
    await s3.send(new CreateBucketCommand({ Bucket }));
    await s3.send(new CreateBucketCommand({ Bucket: LOCKED, ObjectLockEnabledForBucket: true }));
  }, 540_000);

  afterAll(() => deployment.remove());

  it(
    `are linearizable in ${operations} operations of ${CLIENTS} clients, seed ${seed}`,
    async () => {
      const registers = servers.flatMap((server) =>
        Array.from({ length: CLIENTS / servers.length }, () =>
          s3Register({ ...server, endpoint: server.s3, bucket: Bucket }),
        ),
      );
      const checked = await checkRounds({ registers, operations, seed, keysAtATime: 4, onRound: tell });
      for (const register of registers) register.close();
      report(`two replicas on PostgreSQL: ${summaryOf(checked)}, seed ${seed}`);
      expect(checked.violations).toEqual([]);
      expect(checked.overlapping).toBeGreaterThan(operations / 2);
      expect(checked.unknown).toBeLessThan(operations / 20);
    },
    timeLimit(operations),
  );

  it(
    `are linearizable with versions, none of which is lost, seed ${seed}`,
    { timeout: timeLimit(versioned) },
    async () => {
      const versions = new VersionCheck();
      const registers = servers.flatMap((server) =>
        Array.from({ length: CLIENTS / servers.length }, () =>
          s3Register({ ...server, endpoint: server.s3, bucket: LOCKED }, (key, value, id) =>
            versions.add(key, value, id),
          ),
        ),
      );
      const checked = await checkRounds({
        registers,
        operations: versioned,
        seed,
        keysAtATime: 4,
        onRound: tell,
        checkStored: (history) => versions.violations(s3, LOCKED, history),
      });
      for (const register of registers) register.close();
      report(
        `two replicas on PostgreSQL, with versions: ${summaryOf(checked)}, ${versions.versions} versions, seed ${seed}`,
      );
      expect(checked.violations).toEqual([]);
    },
  );
});

function tell(so: Checked): void {
  console.log(summaryOf(so));
}
