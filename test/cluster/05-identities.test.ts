import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { GetObjectCommand, ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { image } from '../container/docker.ts';
import { kubectl, Team } from '../support/cluster/team.ts';
import { until } from '../support/cluster/until.ts';

// The manifests of examples/pod-identity as they are, but for images and sizes: resources of identities, and a pod without a secret.

const team = new Team('team-identities');
const example = fileURLToPath(new URL('../../examples/pod-identity/', import.meta.url));
const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));
const region = 'us-east-1';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

function manifests(file: string): readonly Manifest[] {
  return parseAllDocuments(readFileSync(`${example}${file}`, 'utf8')).map((document) => document.toJS() as Manifest);
}

function inTeam({ apiVersion, kind, metadata, ...rest }: Manifest, spec: object = {}): object {
  return team.object(apiVersion, kind, metadata.name, {
    ...rest,
    ...('spec' in rest ? { spec: { ...rest.spec, ...spec } } : {}),
  });
}

/** What the pod runs: the SDK with nothing but the variables of its manifest. */
const script = `
  import { createRequire } from 'node:module';
  const { S3Client, PutObjectCommand, DeleteObjectCommand } = createRequire('/modules/')('@aws-sdk/client-s3');
  const s3 = new S3Client({ forcePathStyle: true });
  await s3.send(new PutObjectCommand({ Bucket: 'backups', Key: 'from-the-pod', Body: 'without a secret' }));
  const refused = await s3.send(new DeleteObjectCommand({ Bucket: 'backups', Key: 'from-the-pod' })).then(() => 'deleted', (error) => error.name);
  if (refused !== 'AccessDenied') throw new Error('a right that nobody gave: ' + refused);
`;

beforeAll(async () => {
  // No policy for pods: the job mounts the SDK from this machine, which no image of the cluster has.
  await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: team.namespace } });
  const small = { image, imagePullPolicy: 'Never', storage: { size: '1Gi' } };
  await kubectl.apply(
    ...manifests('identities.yaml').map((manifest) => inTeam(manifest, manifest.kind === 'Tenant' ? small : {})),
  );
  await team.untilCondition('policybinding', 'backup', { status: 'True' }, 300_000);
}, 400_000);

// While the operator runs: what is declared in the tenant has finalizers.
afterAll(() => kubectl.run(['delete', 'namespace', team.namespace, '--timeout=120s']));

interface Ended {
  readonly how: 'Complete' | 'Failed';
  readonly said: string;
}

async function runJob(name: string, account: string): Promise<Ended> {
  const job = manifests('job.yaml').find(({ kind }) => kind === 'Job');
  if (job === undefined) throw new Error('there is no Job in job.yaml');
  const { template } = job.spec as { template: { spec: Record<string, unknown> } };
  const [container] = template.spec['containers'] as [Record<string, unknown>];
  const spec = {
    ...template.spec,
    serviceAccountName: account,
    containers: [
      {
        ...container,
        image,
        imagePullPolicy: 'Never',
        command: ['node', '--input-type=module', '--eval', script],
        args: [],
        volumeMounts: [
          ...(container['volumeMounts'] as object[]),
          { name: 'modules', mountPath: '/modules/node_modules' },
        ],
      },
    ],
    volumes: [
      ...(template.spec['volumes'] as object[]),
      { name: 'modules', hostPath: { path: modules, type: 'Directory' } },
    ],
  };
  await kubectl.apply(team.object('batch/v1', 'Job', name, { spec: { backoffLimit: 0, template: { spec } } }));
  const how = await until(`the job ${name} to end`, async () => {
    const conditions = (await team.get('job', name))?.status?.conditions ?? [];
    const ended = conditions.find(
      ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
    );
    return ended?.type as Ended['how'] | undefined;
  });
  return { how, said: await kubectl.run(['logs', `job/${name}`, '--namespace', team.namespace]) };
}

async function rootClient(): Promise<S3Client> {
  return team.rootClient();
}

describe('a pod whose service account is bound to a policy', () => {
  beforeAll(async () => {
    const account = manifests('job.yaml').find(({ kind }) => kind === 'ServiceAccount');
    if (account === undefined) throw new Error('there is no ServiceAccount in job.yaml');
    const other = { ...account, metadata: { name: 'other' } };
    await kubectl.apply(inTeam(account), inTeam(other));
  });

  it('writes with an SDK of AWS by its token alone, and may do no more', async () => {
    expect(await runJob('backup', 'backup')).toEqual({ how: 'Complete', said: '' });
    const s3 = await rootClient();
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'backups', Key: 'from-the-pod' }));
    expect(await Body?.transformToString()).toBe('without a secret');
  }, 540_000);

  it('is refused as another service account', async () => {
    const { how, said } = await runJob('stranger', 'other');
    expect(how).toBe('Failed');
    expect(said).toContain(`No policy is attached to system:serviceaccount:${team.namespace}:other`);
  }, 540_000);
});

const keysOfAnn = async () => {
  const secret = await team.get('secret', 'ann-credentials');
  const decode = (key: string) => Buffer.from(secret?.data?.[key] ?? '', 'base64').toString('utf8');
  return { accessKeyId: decode('accessKey'), secretAccessKey: decode('secretKey') };
};
const clientOfAnn = async () =>
  new S3Client({ endpoint: await team.endpoint(), region, forcePathStyle: true, credentials: await keysOfAnn() });

describe('a User', () => {
  it('has keys in a Secret, made for it, and goes with all that it had', async () => {
    const spec = { tenantRef: { name: 'demo' } };
    await kubectl.apply(
      team.object('coffer.dev/v1alpha1', 'User', 'ann', { spec }),
      team.object('coffer.dev/v1alpha1', 'PolicyBinding', 'ann', {
        spec: { ...spec, policies: ['consoleAdmin'], subjects: [{ user: 'ann' }] },
      }),
    );
    await team.untilCondition('policybinding', 'ann', { status: 'True' });
    const s3 = await clientOfAnn();
    expect((await s3.send(new ListBucketsCommand({}))).Buckets?.map(({ Name }) => Name)).toEqual(['backups']);
    await kubectl.run(['delete', 'policybinding/ann', 'user/ann', '--namespace', team.namespace, '--timeout=60s']);
    await expect(s3.send(new ListBucketsCommand({}))).rejects.toMatchObject({ name: 'InvalidAccessKeyId' });
  }, 540_000);
});

describe('the root credentials', () => {
  it('are rotated: the server is replaced once, and what is declared goes on', async () => {
    const before = await team.podUids('demo-server');
    const old = await rootClient();
    const stringData = { rootUser: 'admin', rootPassword: 'another password for root' };
    const name = 'demo-root-credentials';
    await kubectl.run([
      'patch',
      `secret/${name}`,
      '--namespace',
      team.namespace,
      '--type=merge',
      '--patch',
      JSON.stringify({ stringData }),
    ]);
    await team.untilReplaced('demo-server', before);
    await (await rootClient()).send(new ListBucketsCommand({}));
    await kubectl.apply(team.object('coffer.dev/v1alpha1', 'User', 'late', { spec: { tenantRef: { name: 'demo' } } }));
    await team.untilCondition('user', 'late', { status: 'True' });
    const replaced = await team.podUids('demo-server');
    await until(
      'the end of the former password',
      () =>
        old.send(new ListBucketsCommand({})).then(
          () => undefined,
          ({ name: code }: Error) => (code === 'SignatureDoesNotMatch' ? true : undefined),
        ),
      { timeoutMs: 240_000 },
    );
    expect(await team.podUids('demo-server')).toEqual(replaced);
  }, 400_000);
});
