import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { helm, renderChart, type Manifest } from '../../deploy/render-chart.ts';
import { tool } from '../support/process/run-command.ts';
import { startApiServer, untilEstablished, type ApiServer } from './cluster.ts';

// The charts as helm renders them: each value of values.yaml counts, a misspelt one is refused, null is absent or refused, and the notes say how to find rows
// that were taken out of the values.

const run = promisify(execFile);
const charts = fileURLToPath(new URL('../../charts/', import.meta.url));
type Values = { readonly [name: string]: unknown };

beforeAll(() => void tool('kubernetes/helm', 'helm'));

const valuesOf = async (chart: string) => parse(await readFile(join(charts, chart, 'values.yaml'), 'utf8')) as Values;
const isSection = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;

/** The places of values: `image`, `image.tag`. */
function places(values: Values, above = ''): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const place = above === '' ? name : `${above}.${name}`;
    return isSection(value) ? [place, ...places(value, place)] : [place];
  });
}

const at = (place: string, value: unknown) => ['--set-json', `${place}=${JSON.stringify(value)}`];
const known = new Map<string, Promise<string>>();

/** Returns the output of helm for values, or its error. Equal calls share one run. */
function rendered(chart: string, ...values: string[]): Promise<string> {
  const key = [chart, ...values].join('\n');
  const asked = known.get(key) ?? renderChart(chart, values).then((manifests) => JSON.stringify(manifests), String);
  known.set(key, asked);
  return asked;
}

/** Rows of each map, with the least that their schema asks for. */
const rows = {
  identityProviders: {
    kind: 'IdentityProvider',
    spec: {
      configUrl: 'https://sso.example.com/.well-known/openid-configuration',
      clientId: 'coffer',
      clientSecretRef: { name: 'company-client', key: 'client-secret' },
    },
  },
  buckets: { kind: 'Bucket', spec: {} },
  policies: {
    kind: 'Policy',
    spec: {
      document: {
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: 'arn:aws:s3:::photos/*' }],
      },
    },
  },
  policyBindings: { kind: 'PolicyBinding', spec: { policies: ['photos-read'], subjects: [{ user: 'ann' }] } },
  users: { kind: 'User', spec: {} },
  accessKeys: { kind: 'AccessKey', spec: { user: 'ann' } },
} as const;

const keystore = { files: { size: '1Gi' } };
const withKms = at('kms.enabled', true).concat(at('kms.spec.keystore', keystore));

/** Another value for each place of values.yaml, and what else it needs to count. A place without one fails the test. */
const others: Readonly<Record<string, Readonly<Record<string, readonly [unknown, ...string[]]>>>> = {
  'coffer-tenant': {
    labels: [{ team: 'storage' }],
    'tenant.name': ['other'],
    'tenant.labels': [{ team: 'storage' }],
    'tenant.annotations': [{ note: 'x' }],
    'tenant.keep': [true],
    'tenant.spec.replicas': [3],
    'kms.enabled': [true, ...at('kms.spec.keystore', keystore)],
    'kms.name': ['other', ...withKms],
    'kms.labels': [{ team: 'storage' }, ...withKms],
    'kms.annotations': [{ note: 'x' }, ...withKms],
    'kms.keyPrefix': ['demo-', ...withKms],
    'kms.spec.replicas': [2, ...withKms],
    'kms.spec.keystore': [{ files: { size: '2Gi' } }, ...withKms],
    ...Object.fromEntries(Object.entries(rows).map(([map, { spec }]) => [map, [{ row: spec }]])),
  },
  'coffer-operator': {
    nameOverride: ['other'],
    fullnameOverride: ['other'],
    commonLabels: [{ team: 'storage' }],
    'image.repository': ['r/coffer'],
    'image.tag': ['9.9.9'],
    'image.digest': [`sha256:${'a'.repeat(64)}`],
    'image.pullPolicy': ['Always'],
    imagePullSecrets: [[{ name: 'pull' }]],
    operandImage: ['r/coffer:9'],
    upgradeWindow: ['Sat,Sun 02:00-05:00'],
    podSecurity: ['baseline'],
    allowedServiceAccounts: [['coffer-*']],
    allowedImages: [['r/coffer']],
    allowedProviderHosts: [['idp.example.com']],
    scope: ['namespaces'],
    watchNamespaces: [['a', 'b'], '--set', 'scope=namespaces'],
    'crds.enabled': [false],
    'crds.keep': [false],
    'rbac.create': [false],
    'rbac.aggregateToDefaultRoles': [false],
    'serviceAccount.create': [false],
    'serviceAccount.name': ['other'],
    'serviceAccount.annotations': [{ note: 'x' }],
    replicas: [3],
    maxConcurrentRollouts: [1],
    logLevel: ['debug'],
    extraEnv: [[{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }]],
    'resources.requests.cpu': ['100m'],
    'resources.requests.memory': ['64Mi'],
    'resources.limits.memory': ['1Gi'],
    podLabels: [{ team: 'storage' }],
    podAnnotations: [{ note: 'x' }],
    priorityClassName: ['high'],
    nodeSelector: [{ zone: 'a' }],
    tolerations: [[{ operator: 'Exists' }]],
    affinity: [{ nodeAffinity: {} }],
    topologySpreadConstraints: [[{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }]],
    terminationGracePeriodSeconds: [60],
    'podSecurityContext.runAsNonRoot': [false],
    'podSecurityContext.runAsUser': [1000],
    'podSecurityContext.runAsGroup': [1000],
    'podSecurityContext.fsGroup': [1000],
    'podSecurityContext.seccompProfile.type': ['Unconfined'],
    'securityContext.allowPrivilegeEscalation': [true],
    'securityContext.readOnlyRootFilesystem': [false],
    'securityContext.capabilities.drop': [['NET_RAW']],
    'podDisruptionBudget.enabled': [false],
    'podDisruptionBudget.maxUnavailable': ['50%'],
    'networkPolicy.enabled': [false],
    'networkPolicy.metricsFrom': [[{ podSelector: {} }]],
    'networkPolicy.egress': [[{ ports: [{ port: 443 }] }]],
    'ports.health': [18081],
    'ports.metrics': [18080],
    'service.annotations': [{ note: 'x' }],
    'metrics.serviceMonitor.enabled': [true],
    'metrics.serviceMonitor.interval': ['60s', '--set', 'metrics.serviceMonitor.enabled=true'],
    'metrics.serviceMonitor.labels': [{ team: 'storage' }, '--set', 'metrics.serviceMonitor.enabled=true'],
    'metrics.prometheusRule.enabled': [true],
    'metrics.prometheusRule.labels': [{ team: 'storage' }, '--set', 'metrics.prometheusRule.enabled=true'],
    'metrics.dashboard.enabled': [true],
    'metrics.dashboard.labels.grafana_dashboard': ['2', '--set', 'metrics.dashboard.enabled=true'],
    'metrics.dashboard.annotations': [{ note: 'x' }, '--set', 'metrics.dashboard.enabled=true'],
  },
};

describe.each(['coffer-tenant', 'coffer-operator'])('values of %s', (chart) => {
  it('each count', async () => {
    const values = await valuesOf(chart);
    const all = places(values);
    const leaves = all.filter((place) => !all.some((other) => other.startsWith(`${place}.`)));
    const without: string[] = [];
    for (const place of leaves) {
      const [value, ...further] = others[chart]?.[place] ?? [];
      const changed = await rendered(chart, ...further, ...at(place, value ?? null));
      if (changed.startsWith('Error') || changed === (await rendered(chart, ...further))) {
        without.push(`${place}: ${changed.slice(0, 300)}`);
      }
    }
    expect(without).toEqual([]);
  }, 600_000);

  it('are refused where misspelt, in each section', async () => {
    const values = await valuesOf(chart);
    const sections = [
      '',
      ...places(values).filter((place) =>
        isSection(place.split('.').reduce<unknown>((value, name) => (value as Values)[name], values)),
      ),
    ];
    const taken: string[] = [];
    for (const section of sections.filter((place) => !isFree(place))) {
      const said = await rendered(chart, ...at(section === '' ? 'misspelt' : `${section}.misspelt`, 'x'));
      if (!said.includes('misspelt')) taken.push(section);
    }
    expect(taken).toEqual([]);
  }, 600_000);

  it('may be null in each place, or are refused by the schema', async () => {
    const broken: string[] = [];
    for (const place of places(await valuesOf(chart))) {
      const said = await rendered(chart, ...at(place, null));
      const isRefused = said.includes("values don't meet the specifications of the schema");
      if (said.startsWith('Error') ? !isRefused : said.includes('<nil>') || said.includes('=null"')) {
        broken.push(`${place}: ${said.slice(0, 300)}`);
      }
    }
    expect(broken).toEqual([]);
  }, 600_000);

  it('make legal labels of a version with a plus sign', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'coffer-chart-'));
    try {
      const version = `0.1.0+${'build.'.repeat(12)}7`;
      const to = ['--version', version, '--app-version', version, '--destination', folder];
      await run(helm, ['package', join(charts, chart), ...to]);
      const { stdout } = await run(
        helm,
        ['template', 'demo', join(folder, `${chart}-${version}.tgz`), '--kube-version', '1.34.0'],
        { maxBuffer: 64 << 20 },
      );
      const labels = parseAllDocuments(stdout).flatMap((document) =>
        Object.values((document.toJS() as Manifest | null)?.metadata.labels ?? {}),
      );
      expect(labels).not.toEqual([]);
      for (const label of labels) expect(label).toMatch(/^([A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?)?$/);
      for (const [, image] of stdout.matchAll(/image: "?([^"\n]+)/g)) expect(image).not.toContain('+');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

/** Sections that Kubernetes defines, or the user. The API server refuses what is misspelt there. */
function isFree(place: string): boolean {
  return /^(resources|podSecurityContext|securityContext|metrics\.dashboard\.labels)(\.|$)/.test(place);
}

describe.each(Object.entries(rows))('a row of %s', (map, { kind, spec }) => {
  const kinds = async (row: unknown) =>
    (await renderChart('coffer-tenant', at(`${map}.row`, row))).map((manifest) => manifest.kind);
  it('makes its resource', async () => {
    expect(await kinds(spec)).toContain(kind);
  });
  it('that is null is absent', async () => {
    expect(await kinds(null)).toEqual(['Tenant']);
  });
  it('with a misspelt field is refused', async () => {
    await expect(kinds({ ...spec, misspelt: 'x' })).rejects.toThrow('misspelt');
  });
});

describe('what is taken out of the values', () => {
  let server: ApiServer;
  beforeAll(async () => {
    server = await startApiServer();
    const crds = join(charts, '../crds');
    await server.kubectl(['apply', '--server-side', '-f', crds]);
    await untilEstablished(
      (args) => server.kubectl(args),
      ['tenants', 'users', 'buckets'].map((plural) => `${plural}.coffer.dev`),
    );
  }, 360_000);
  afterAll(() => server.stop());

  const upgraded = async (release: string, ...values: string[]) => {
    const args = ['upgrade', '--install', release, join(charts, 'coffer-tenant'), '--namespace', release];
    const { stdout } = await run(helm, [...args, '--create-namespace', '--kubeconfig', server.kubeconfig, ...values], {
      maxBuffer: 64 << 20,
    });
    return stdout.split('\nNOTES:\n')[1] ?? '';
  };
  const live = async (release: string) =>
    (await server.kubectl(['get', 'users.coffer.dev,buckets.coffer.dev', '-n', release, '-o', 'name']))
      .trim()
      .split('\n');
  const two = at('users', { ann: {}, bob: {} });

  /** What the command of the notes lists, of users and buckets. */
  const listed = async (notes: string) => {
    const command = /^ +kubectl (-n \S+ get .* -l \S+)$/m.exec(notes)?.[1] ?? '';
    return (await server.kubectl([...command.split(' '), '-o', 'name']))
      .trim()
      .split('\n')
      .filter((name) => /^(?:user|bucket)\./.test(name))
      .toSorted();
  };

  it('is kept with tenant.keep, and the notes have the command that lists it', async () => {
    const keep = at('tenant.keep', true);
    await upgraded('kept', ...keep, ...two, ...at('buckets', { photos: {} }));
    const notes = await upgraded('kept', ...keep, ...at('users', { ann: {}, bob: null }));
    const all = ['bucket.coffer.dev/photos', 'user.coffer.dev/ann', 'user.coffer.dev/bob'];
    expect((await live('kept')).toSorted()).toEqual(all);
    expect(await listed(notes)).toEqual(all);
  }, 360_000);

  it('is deleted without tenant.keep', async () => {
    await upgraded('gone', ...two);
    const notes = await upgraded('gone', ...at('users', { ann: {} }));
    expect(await live('gone')).toEqual(['user.coffer.dev/ann']);
    expect(await listed(notes)).toEqual(['user.coffer.dev/ann']);
  }, 360_000);

  it('is kept in the release in which tenant.keep ends, and listed', async () => {
    await upgraded('ends', ...at('tenant.keep', true), ...two);
    const notes = await upgraded('ends', ...at('users', { ann: {} }));
    expect(await listed(notes)).toContain('user.coffer.dev/bob');
  }, 360_000);

  it('needs no right to list resources', async () => {
    await upgraded('bounded', ...two);
    const verbs = ['get', 'create', 'update', 'patch', 'delete'];
    const rules = [
      { apiGroups: [''], resources: ['secrets'], verbs: [...verbs, 'list'] },
      { apiGroups: ['coffer.dev'], resources: ['*'], verbs },
    ];
    const rbac = 'rbac.authorization.k8s.io';
    const metadata = { name: 'deployer', namespace: 'bounded' };
    const items = [
      { apiVersion: `${rbac}/v1`, kind: 'Role', metadata, rules },
      {
        apiVersion: `${rbac}/v1`,
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: rbac, kind: 'Role', name: 'deployer' },
        subjects: [{ apiGroup: rbac, kind: 'User', name: 'deployer' }],
      },
    ];
    await server.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const args = ['upgrade', 'bounded', join(charts, 'coffer-tenant'), '--namespace', 'bounded'];
    const as = ['--kubeconfig', server.kubeconfig, '--kube-as-user', 'deployer'];
    await run(helm, [...args, ...as, ...at('users', { ann: {} })], { maxBuffer: 64 << 20 });
    expect(await live('bounded')).toEqual(['user.coffer.dev/ann']);
  }, 360_000);
});
