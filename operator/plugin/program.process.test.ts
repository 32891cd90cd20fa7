import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ClusterOfObjects } from '../../test/support/kubernetes/cluster-of-objects.ts';
import { KubeError, type KubeObject } from '../kube-client/kube-api.ts';
import { runPlugin } from './program.ts';

const now = new Date('2026-11-21T12:00:00Z');
const api = 'coffer.dev/v1alpha1';

function condition(type: string, status: string, reason: string, message: string) {
  return { type, status, reason, message, observedGeneration: 1, lastTransitionTime: '2026-11-21T11:00:00Z' };
}

function object(kind: string, name: string, fields: object, metadata: object = {}): KubeObject {
  const apiVersion = ['Pod', 'Secret'].includes(kind) ? 'v1' : api;
  return { apiVersion, kind, metadata: { name, namespace: 'store', generation: 1, ...metadata }, ...fields };
}

const owned = (kind: string, name: string) => ({
  labels: {
    'app.kubernetes.io/managed-by': 'coffer-operator',
    'coffer.dev/owner-kind': kind,
    'coffer.dev/owner': name,
  },
});

const isReady = { observedGeneration: 1, conditions: [condition('Ready', 'True', 'Ready', 'it runs and answers')] };
const tenant = object('Tenant', 'demo', {
  spec: { kmsConfigRef: { name: 'keys' }, identityProviders: [{ name: 'company' }] },
  status: {
    ...isReady,
    servers: '1/1',
    health: 'Healthy',
    version: '0.1.0',
    rollout: { reason: 'ImageChanged', updated: 0, total: 1 },
    certificates: [
      { name: 'demo-client', notAfter: '2027-01-20T12:00:00Z' },
      { name: 'demo-soon', notAfter: '2026-11-24T12:00:00Z' },
      { name: 'demo-old', notAfter: '2026-11-20T12:00:00Z' },
    ],
  },
});
const kms = object('KMSConfig', 'keys', { spec: {}, status: isReady });
const provider = object('IdentityProvider', 'company', {
  spec: {},
  status: { observedGeneration: 1, conditions: [condition('Ready', 'False', 'WrongIssuer', 'issuer differs')] },
});
const pod = object(
  'Pod',
  'demo-0',
  {
    spec: { nodeName: 'one', containers: [{ name: 'coffer-server', image: 'coffer:1' }] },
    status: {
      startTime: '2026-11-21T10:00:00Z',
      containerStatuses: [
        {
          name: 'coffer-server',
          restartCount: 2,
          state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
        },
      ],
    },
  },
  owned('Tenant', 'demo'),
);
const secret = object(
  'Secret',
  'demo-root-credentials',
  { data: { rootPassword: Buffer.from('very-secret-password').toString('base64') } },
  owned('Tenant', 'demo'),
);
const event = {
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name: 'e', namespace: 'store' },
  type: 'Normal',
  reason: 'Restarting',
  note: 'ImageChanged: spec.image of Tenant demo',
  eventTime: '2026-11-21T11:58:00.000000Z',
  series: { count: 3, lastObservedTime: '2026-11-21T11:59:00.000000Z' },
  regarding: { kind: 'Tenant', name: 'demo' },
};

async function run(cluster: ClusterOfObjects, ...commandLine: string[]) {
  let out = '';
  let error = '';
  const code = await runPlugin(commandLine, {
    connect: ({ namespace }) => Promise.resolve({ cluster, namespace: namespace ?? 'store' }),
    out: (text) => (out += text),
    error: (text) => (error += text),
    now: () => now,
  });
  return { code, out, error };
}

describe('status', () => {
  it('shows the tenant with all it uses', async () => {
    const cluster = new ClusterOfObjects([tenant, kms, provider, pod, secret, event]);
    const { out } = await run(cluster, 'status', 'demo');
    expect(out).toBe(
      [
        '[ready] Tenant demo  1/1 servers  Healthy  version 0.1.0  rolls for ImageChanged: 0 of 1 pods are new',
        '├─ Ready  True  Ready  it runs and answers (60m)',
        '├─ pods',
        '│  └─ demo-0  CrashLoopBackOff  2 restarts  since 2h  one  back-off',
        '├─ certificates',
        '│  ├─ demo-client  valid for 60d, until 2027-01-20T12:00:00Z',
        '│  ├─ demo-soon    SOON: valid for 3d, until 2026-11-24T12:00:00Z',
        '│  └─ demo-old     EXPIRED 24h ago',
        '├─ events',
        '│  └─ 60s ago  Normal  Restarting  ImageChanged: spec.image of Tenant demo (3 times)',
        '├─ [ready] KMSConfig keys',
        '│  └─ Ready  True  Ready  it runs and answers (60m)',
        '└─ [not ready] IdentityProvider company',
        '   └─ Ready  False  WrongIssuer  issuer differs (60m)',
        '',
      ].join('\n'),
    );
  });
  it('exits with 3 where something is not ready, and with 0 where all is', async () => {
    expect((await run(new ClusterOfObjects([tenant, kms, provider]), 'status')).code).toBe(3);
    const good = { ...provider, status: isReady };
    expect((await run(new ClusterOfObjects([tenant, kms, good]), 'status')).code).toBe(0);
  });
  it('does not take a status of an older generation for the present one', async () => {
    const changed = { ...kms, metadata: { ...kms.metadata, generation: 2 } };
    const { code, out } = await run(new ClusterOfObjects([changed]), 'status');
    expect(out).toContain('[not observed yet: is the operator running?] KMSConfig keys');
    expect(code).toBe(3);
  });
  it('names what a tenant uses and does not exist', async () => {
    const { out } = await run(new ClusterOfObjects([tenant, kms]), 'status');
    expect(out).toContain('[does not exist] IdentityProvider company');
  });
  it('tells what it may not read, and shows the rest', async () => {
    const cluster = new ClusterOfObjects([tenant]);
    cluster.refusals.set('pods', new KubeError(403, 'Forbidden', 'pods is forbidden'));
    const { out } = await run(cluster, 'status');
    expect(out).toContain('Tenant demo');
    expect(out).toContain('could not read pods: pods is forbidden');
  });
  it('never asks for a Secret', async () => {
    const cluster = new ClusterOfObjects([tenant]);
    cluster.refusals.set('secrets', new KubeError(403, 'Forbidden', 'secrets is forbidden'));
    expect((await run(cluster, 'status')).out).not.toContain('secrets');
  });
  it('says nothing of types that the cluster does not know', async () => {
    const cluster = new ClusterOfObjects([tenant]);
    cluster.refusals.set('buckets', new KubeError(404, 'NotFound', 'the server could not find'));
    expect((await run(cluster, 'status')).out).not.toContain('could not read');
  });
  it('is JSON by -o json', async () => {
    const { out } = await run(new ClusterOfObjects([tenant, kms, provider, pod]), 'status', '-o', 'json');
    const status = JSON.parse(out) as { tenants: [{ name: string; pods: [{ restarts: number }] }] };
    expect(status.tenants[0].name).toBe('demo');
    expect(status.tenants[0].pods[0].restarts).toBe(2);
  });
  it('fails for a tenant that is not there', async () => {
    const { code, error } = await run(new ClusterOfObjects([]), 'status', 'nobody');
    expect(error).toContain('there is no Tenant nobody in the namespace store');
    expect(code).toBe(1);
  });
  it('helps where the resources are not installed', async () => {
    const cluster = new ClusterOfObjects([]);
    cluster.refusals.set('tenants', new KubeError(404, 'NotFound', 'the server could not find the requested resource'));
    expect((await run(cluster, 'status')).error).toContain('Are the CustomResourceDefinitions installed');
  });
});

describe('changes', () => {
  it.each([
    ['promote', 'tenant/demo', { metadata: { annotations: { 'coffer.dev/promotedAt': now.toISOString() } } }],
    ['restart', 'kms/keys', { metadata: { annotations: { 'coffer.dev/restartedAt': now.toISOString() } } }],
    ['rotate', 'tenant/demo', { metadata: { annotations: { 'coffer.dev/rotatedAt': now.toISOString() } } }],
    ['pause', 'demo', { spec: { paused: true } }],
    ['hibernate', 'demo', { spec: { hibernated: true } }],
  ])('%s %s', async (command, ref, patch) => {
    const cluster = new ClusterOfObjects([tenant, kms]);
    expect((await run(cluster, command, ref)).code).toBe(0);
    expect(cluster.patches.map((patched) => patched.patch)).toEqual([patch]);
  });
  it('resume undoes only what is so', async () => {
    const cluster = new ClusterOfObjects([object('Tenant', 'demo', { spec: { hibernated: true } })]);
    await run(cluster, 'resume', 'demo');
    expect(cluster.patches.map(({ patch }) => patch)).toEqual([{ spec: { hibernated: false } }]);
  });
  it('resume writes nothing where nothing is paused', async () => {
    const cluster = new ClusterOfObjects([tenant]);
    expect((await run(cluster, 'resume', 'demo')).out).toContain('neither paused nor hibernated');
    expect(cluster.patches).toEqual([]);
  });
  it('warns that Git may set a field back', async () => {
    const tracked = object('Tenant', 'demo', { spec: {} }, { annotations: { 'argocd.argoproj.io/tracking-id': 'x' } });
    expect((await run(new ClusterOfObjects([tracked]), 'pause', 'demo')).out).toContain('commit the change there too');
  });
  it('fails for what is not there', async () => {
    const { code, error } = await run(new ClusterOfObjects([]), 'restart', 'demo', '-n', 'other');
    expect(error).toContain('there is no Tenant demo in the namespace other');
    expect(code).toBe(1);
  });
  it.each([
    ['a kind that cannot', ['pause', 'kms/keys']],
    ['nothing', ['restart']],
    ['an unknown flag', ['restart', 'demo', '--now']],
    ['an unknown command', ['explode']],
  ])('exits with 2 for %s', async (_title, commandLine) => {
    expect((await run(new ClusterOfObjects([kms]), ...commandLine)).code).toBe(2);
  });
  it('tells its help with exit code 0', async () => {
    const { code, out } = await run(new ClusterOfObjects([]), 'status', '--help');
    expect(out).toContain('--kubeconfig <file>');
    expect(code).toBe(0);
  });
});

/** Its path in the report, without the folder that names the time. */
const inReport = (file: string, folder: string) => relative(folder, file).split('/').slice(1).join('/');

async function report(cluster: ClusterOfObjects) {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-report-'));
  try {
    const result = await run(cluster, 'report', '--file', join(folder, 'r.tar.gz'));
    execFileSync('tar', ['-xzf', 'r.tar.gz'], { cwd: folder });
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'r.tar.gz')
      .map((entry) => join(entry.parentPath, entry.name));
    return {
      ...result,
      files: new Map(files.map((file) => [inReport(file, folder), readFileSync(file, 'utf8')])),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
function everything(): ClusterOfObjects {
  const cluster = new ClusterOfObjects([tenant, kms, provider, pod, secret, event]);
  cluster.logs.set('store/demo-0', 'logged in with very-secret-password\n');
  cluster.logs.set('store/demo-0 previous', 'ended\n');
  return cluster;
}

describe('report', () => {
  it('holds resources, status, events, logs, versions and problems', async () => {
    const { files, code } = await report(everything());
    expect(code).toBe(0);
    const paths = [...files.keys()].map((path) => path.split('/').slice(0, 3).join('/'));
    expect(new Set(paths)).toEqual(
      new Set([
        'events.yaml',
        'logs/store/demo-0-coffer-server-previous.log',
        'logs/store/demo-0-coffer-server.log',
        'problems.txt',
        'resources/store/IdentityProvider-company.yaml',
        'resources/store/KMSConfig-keys.yaml',
        'resources/store/Pod-demo-0.yaml',
        'resources/store/Secret-demo-root-credentials.yaml',
        'resources/store/Tenant-demo.yaml',
        'status.json',
        'status.txt',
        'versions.txt',
      ]),
    );
  });
  it('holds no value of any Secret, in whatever form', async () => {
    const { files } = await report(everything());
    const text = [...files.values()].join('\n');
    expect(text).toContain('logged in with [redacted]');
    expect(text).not.toContain('very-secret-password');
    expect(text).not.toContain(Buffer.from('very-secret-password').toString('base64'));
  });
  it('is made of what can be read, and names the rest', async () => {
    const cluster = everything();
    cluster.refusals.set('secrets', new KubeError(403, 'Forbidden', 'secrets is forbidden'));
    cluster.logs.delete('store/demo-0 previous');
    const { files } = await report(cluster);
    expect(files.get('problems.txt')).toBe(
      'secrets: secrets is forbidden\n' +
        'values of Secrets are not known here, and were not struck out of logs: look for them\n' +
        'log of store/demo-0 coffer-server: container is waiting to start\n',
    );
  });
});
