import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../server/postgres.ts';
import { nodeAddress } from './start-cluster.ts';
import { CreateBucketCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect } from 'vitest';
import { runCommand } from '../process/run-command.ts';
import { startMinio, type RunningMinio } from '../server/start-minio.ts';
import { fewestReadyWhile } from './pods.ts';
import { kubectl, Team } from './team.ts';
import { underLoad } from './under-load.ts';

export interface PostgresForPods {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE` of a new empty database, as pods reach it. */
  createDatabase(): Promise<{ readonly url: string; readonly password: string }>;
  remove(): Promise<void>;
}

/** A PostgreSQL of this machine at the node's address, which asks pods for their password (SCRAM). */
export async function startPostgresForPods(): Promise<PostgresForPods> {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-pg-hba-'));
  const rules = join(folder, 'pg_hba.conf');
  // The networks of pods and of the node, as `up` makes them.
  const networks = ['127.0.0.1/32', '10.244.0.0/16', '10.245.0.0/24'];
  await writeFile(rules, networks.map((network) => `host all all ${network} scram-sha-256\n`).join(''));
  // Read by the user postgres.
  await chmod(folder, 0o755);
  await chmod(rules, 0o644);
  const server = await startPostgres({
    settings: { listen_addresses: `127.0.0.1,${nodeAddress}`, hba_file: rules, max_connections: '400' },
  });
  return {
    async createDatabase() {
      const { url, password } = await server.createDatabase();
      const reached = new URL(url);
      reached.hostname = nodeAddress;
      reached.password = password;
      return { url: reached.href, password };
    },
    async remove() {
      await server.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export const server = 'demo-server';
export const bucket = 'load';
const region = 'us-east-1';
/** One body is kept among the records, the other is a blob. */
export const bodyBytes = [16 * 1024, 300 * 1024];
/** No client may notice anything, so none may try again. Two cores carry the cluster, the stores and the clients. */
const habits = { bodyBytes, attempts: 1, workers: 2 };

let postgres: PostgresForPods;
let minio: RunningMinio;

/** Starts the database and the other S3 for the tests of a file. */
export function startStores(): void {
  beforeAll(async () => {
    [postgres, minio] = await Promise.all([startPostgresForPods(), startMinio(nodeAddress)]);
  });
  afterAll(async () => {
    await postgres?.remove();
    await minio?.stop();
  });
}

interface SharedBlobs {
  readonly where: string;
  readonly namespace: string;
  /** Makes what the servers share in the team's namespace; what `storage.blobs` is to say. */
  prepare(team: Team): Promise<object>;
  /** How many blobs are there. */
  count(team: Team): Promise<number>;
}

export const kinds: readonly SharedBlobs[] = [
  {
    where: 'on a shared volume',
    namespace: 'team-volume',
    async prepare(team) {
      const spec = { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } };
      await kubectl.apply(team.object('v1', 'PersistentVolumeClaim', 'blobs', { spec }));
      return { sharedVolume: { claimName: 'blobs' } };
    },
    async count(team) {
      const claim = await team.get('persistentvolumeclaim', 'blobs');
      const volume = await kubectl.get('persistentvolume', String(claim?.spec?.['volumeName']));
      const { path } = (volume?.spec?.['hostPath'] ?? {}) as { path?: string };
      const { stdout } = await runCommand('find', [path ?? '', '-mindepth', '2', '-type', 'f']);
      return stdout.split('\n').filter((line) => line !== '').length;
    },
  },
  {
    where: 'in another S3',
    namespace: 'team-bucket',
    async prepare(team) {
      await otherS3().send(new CreateBucketCommand({ Bucket: 'blobs' }));
      const { accessKey, secretKey } = minio;
      await kubectl.apply(
        team.object('v1', 'Secret', 'other-s3', {
          type: 'coffer.dev/object-storage',
          stringData: { accessKey, secretKey },
        }),
      );
      return {
        s3: { endpoint: minio.url, bucket: 'blobs', prefix: 'demo', credentialsSecret: { name: 'other-s3' } },
      };
    },
    async count() {
      return (await otherS3().send(new ListObjectsV2Command({ Bucket: 'blobs', Prefix: 'demo/' }))).KeyCount ?? 0;
    },
  },
];

function otherS3(): S3Client {
  const credentials = { accessKeyId: minio.accessKey, secretAccessKey: minio.secretKey };
  return new S3Client({ endpoint: minio.url, region, forcePathStyle: true, credentials });
}

interface ThreeServers {
  readonly team: Team;
  /** The Tenant, with these changes. */
  spec(changes?: Readonly<Record<string, unknown>>): object;
  /** Makes a change that replaces every pod, or none; no request fails, and never are fewer than `fewest` pods ready. */
  unnoticed(name: string, change: () => Promise<void>, fewest: number): Promise<void>;
  /** A client of each pod alone, which no Service stands before. */
  clientsOfPods(): Promise<readonly S3Client[]>;
  /** Passwords of the stores, which no pod may show. */
  secrets(): readonly string[];
}

/** Three servers in a namespace of their own, made before the tests of a block and removed after them. */
export function threeServers(kind: SharedBlobs): ThreeServers {
  const { namespace } = kind;
  const team = new Team(namespace);
  let password: string;
  let blobs: object;

  const spec = (changes: Readonly<Record<string, unknown>> = {}): object =>
    team.server({
      replicas: 3,
      storage: { records: { postgres: { urlSecretRef: { name: 'database', key: 'url' } } }, blobs },
      // Three of them beside everything else on two cores.
      resources: { requests: { cpu: '150m', memory: '128Mi' } },
      ...changes,
    });

  beforeAll(async () => {
    await team.createNamespace();
    const database = await postgres.createDatabase();
    password = database.password;
    await kubectl.apply(
      team.object('v1', 'Secret', 'database', { type: 'coffer.dev/database', stringData: { url: database.url } }),
    );
    blobs = await kind.prepare(team);
    await team.commitAll(spec());
    await team.untilSettled(300_000);
    await team.createBucket(bucket);
  });

  // Two cores have room for one such team.
  afterAll(() => kubectl.run(['delete', 'namespace', namespace, '--timeout=120s']));

  return {
    team,
    spec,
    async unnoticed(name, change, fewest) {
      let ready = 0;
      const act = async () => {
        ready = await fewestReadyWhile(team, server, change);
      };
      const seen = await underLoad(`${namespace}: ${name}`, team, bucket, act, habits);
      const { javaScript, boto3, downtime } = seen;
      expect([...javaScript.failures, ...boto3.failures]).toEqual([]);
      expect([javaScript.wrong, boto3.wrong, downtime.outages]).toEqual([0, 0, []]);
      expect(Math.min(javaScript.requests, boto3.requests)).toBeGreaterThan(100);
      expect(ready).toBe(fewest);
    },
    async clientsOfPods() {
      const credentials = await team.rootCredentials();
      return (await team.pods(server)).map(({ status }) => {
        const endpoint = `http://${String(status?.['podIP'])}:9000`;
        return new S3Client({ endpoint, region, forcePathStyle: true, credentials, maxAttempts: 1 });
      });
    },
    secrets: () => [password, minio.secretKey],
  };
}
