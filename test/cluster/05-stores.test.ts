import { randomBytes } from 'node:crypto';
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMinio } from '../harness/start-minio.ts';
import type { RunningMinio } from '../harness/start-minio.ts';
import { runCommand } from '../harness/run-command.ts';
import { renewCertificates } from './harness/certificates.ts';
import { drainPodsOf } from './harness/eviction.ts';
import { startPostgresForPods } from './harness/postgres-for-pods.ts';
import type { PostgresForPods } from './harness/postgres-for-pods.ts';
import { fewestReadyWhile } from './harness/ready-pods.ts';
import { nextImage, nodeAddress } from './harness/start-cluster.ts';
import { kubectl, Team } from './harness/team.ts';
import { underLoad } from './harness/under-load.ts';

const server = 'demo-server';
const bucket = 'load';
const region = 'us-east-1';
/** One body is kept among the records, the other is a blob. */
const bodyBytes = [16 * 1024, 300 * 1024];
/** No client may notice anything, so none may try again. Two cores carry the cluster, the stores and the clients. */
const habits = { bodyBytes, attempts: 1, workers: 2 };

let postgres: PostgresForPods;
let minio: RunningMinio;

beforeAll(async () => {
  [postgres, minio] = await Promise.all([startPostgresForPods(), startMinio(nodeAddress)]);
});

afterAll(async () => {
  await postgres?.remove();
  await minio?.stop();
});

interface SharedBlobs {
  readonly where: string;
  readonly namespace: string;
  /** Makes what the servers share in the team's namespace; what `storage.blobs` is to say. */
  prepare(team: Team): Promise<object>;
  /** How many blobs are there. */
  count(team: Team): Promise<number>;
}

const kinds: readonly SharedBlobs[] = [
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

describe.each(kinds)('three servers on PostgreSQL with their blobs $where', (kind) => {
  const { namespace } = kind;
  const team = new Team(namespace);
  let password: string;
  let blobs: object;

  const three = (spec: Readonly<Record<string, unknown>> = {}): object =>
    team.server({
      replicas: 3,
      storage: { records: { postgres: { urlSecretRef: { name: 'database', key: 'url' } } }, blobs },
      // Three of them beside everything else on two cores.
      resources: { requests: { cpu: '150m', memory: '128Mi' } },
      ...spec,
    });

  /** Makes a change that replaces every pod, or none; no request fails, and never is more than one pod away. */
  async function unnoticed(name: string, change: () => Promise<void>, fewest: number): Promise<void> {
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
  }

  /** A client of one pod alone, which no Service stands before. */
  async function clientsOfPods(): Promise<readonly S3Client[]> {
    const credentials = await team.rootCredentials();
    return (await team.pods(server)).map(({ status }) => {
      const endpoint = `http://${String(status?.['podIP'])}:9000`;
      return new S3Client({ endpoint, region, forcePathStyle: true, credentials, maxAttempts: 1 });
    });
  }

  beforeAll(async () => {
    await team.createNamespace();
    const database = await postgres.createDatabase();
    password = database.password;
    await kubectl.apply(
      team.object('v1', 'Secret', 'database', { type: 'coffer.dev/database', stringData: { url: database.url } }),
    );
    blobs = await kind.prepare(team);
    await team.commitAll(three());
    await team.untilSettled(300_000);
    await team.createBucket(bucket);
  });

  // Two cores have room for one such team.
  afterAll(() => kubectl.run(['delete', 'namespace', namespace, '--timeout=120s']));

  it('have no volume of their own', async () => {
    const set = await team.get('statefulset', server);
    expect(set?.spec?.['volumeClaimTemplates']).toBeUndefined();
    expect((await team.pods(server)).length).toBe(3);
  });

  it('give at once what any other took', async () => {
    const clients = await clientsOfPods();
    for (const [at, writer] of clients.entries()) {
      for (const size of bodyBytes) {
        const body = randomBytes(size);
        const object = { Bucket: bucket, Key: `shared/${at}/${size}` };
        await writer.send(new PutObjectCommand({ ...object, Body: body }));
        for (const reader of clients) {
          const { Body } = await reader.send(new GetObjectCommand(object));
          expect(body.equals((await Body?.transformToByteArray()) ?? Buffer.alloc(0))).toBe(true);
        }
      }
    }
    expect(await kind.count(team)).toBeGreaterThanOrEqual(3);
  });

  it('change an identity provider', async () => {
    const before = await team.podUids(server);
    await unnoticed(
      'identity provider',
      async () => {
        await kubectl.apply(team.identityProvider({ scopes: ['openid', 'profile'] }));
        await team.untilReplaced(server, before);
      },
      2,
    );
    expect((await team.events()).join('\n')).toContain('IdentityProviderChanged');
  });

  it('change their image', async () => {
    const before = await team.podUids(server);
    await unnoticed(
      'image',
      async () => {
        await kubectl.apply(three({ image: nextImage }));
        await team.untilReplaced(server, before);
      },
      2,
    );
    expect((await team.events()).join('\n')).toContain('ImageChanged');
  });

  it('change their certificates, by no restart', async () => {
    const before = await team.podUids(server);
    await unnoticed('certificates', () => renewCertificates(team), 3);
    expect(await team.podUids(server)).toEqual(before);
  }, 420_000);

  it('are drained from their node', async () => {
    await unnoticed('drain', () => drainPodsOf(team, server), 2);
  });

  it('keep the passwords of their stores to themselves', async () => {
    const where = ['--namespace', namespace];
    const shown = await Promise.all([
      kubectl.run(['get', 'pods,statefulsets,events,tenants', ...where, '--output', 'yaml']),
      kubectl.run(['logs', ...where, '--selector', 'app.kubernetes.io/name=coffer', '--tail=-1']),
    ]);
    const all = shown.join('\n');
    expect([password, minio.secretKey].filter((secret) => all.includes(secret))).toEqual([]);
  });
});
