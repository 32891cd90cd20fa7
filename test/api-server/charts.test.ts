import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesOfTheChart } from '../../deploy/generated-files.ts';
import { helm, renderChart, type Manifest } from '../../deploy/render-chart.ts';
import { tool } from '../support/process/run-command.ts';
import { startApiServer, type ApiServer } from './cluster.ts';

// What helm makes of the charts, taken by a real API server (dry run): every field is one that it knows, and the resources of
// coffer-tenant pass the CRDs with their rules.

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const digest = `sha256:${'a'.repeat(64)}`;
let server: ApiServer | undefined;

/** What the API server says to manifests: empty when it takes them. */
async function refusal(manifests: readonly Manifest[]): Promise<string> {
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests });
  try {
    await server?.kubectl(['apply', '--dry-run=server', '--server-side', '--validate=strict', '-f', '-'], list);
    return '';
  } catch (error) {
    return (error as { stderr?: string }).stderr ?? String(error);
  }
}

/** Of the Prometheus operator, whose CRDs are not here. */
const withoutMonitoring = (manifests: readonly Manifest[]) =>
  manifests.filter(({ apiVersion }) => apiVersion !== 'monitoring.coreos.com/v1');

beforeAll(async () => {
  tool('kubernetes/helm', 'helm');
  server = await startApiServer();
  await server.kubectl(['apply', '--server-side', '-f', `${root}crds`]);
  for (const name of ['coffer-system', 'a', 'b']) await server.kubectl(['create', 'namespace', name]);
}, 360_000);

afterAll(() => server?.stop());

/** How the CRDs of a rendered chart fare when it is uninstalled. */
async function policies(...values: string[]): Promise<readonly (string | undefined)[]> {
  return (await renderChart('coffer-operator', values))
    .filter(({ kind }) => kind === 'CustomResourceDefinition')
    .map(({ metadata }) => metadata.annotations?.['helm.sh/resource-policy']);
}

const namespaced = ['--set', 'scope=namespaces', '--set', 'watchNamespaces={a,b}'];
const set = (...assignments: string[]) => assignments.flatMap((assignment) => ['--set-json', assignment]);
const everything = set(
  `image={"digest":"${digest}"}`,
  'metrics={"serviceMonitor":{"enabled":true},"prometheusRule":{"enabled":true},"dashboard":{"enabled":true}}',
  'networkPolicy.metricsFrom=[{"namespaceSelector":{"matchLabels":{"x":"y"}}}]',
  'networkPolicy.egress=[{"ports":[{"port":443}]}]',
  'imagePullSecrets=[{"name":"pull"}]',
  'tolerations=[{"operator":"Exists"}]',
  'extraEnv=[{"name":"HTTPS_PROXY","value":"http://proxy:3128"}]',
  'topologySpreadConstraints=[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway"}]',
  'commonLabels={"team":"storage"}',
  'podAnnotations={"a":"b"}',
  'priorityClassName="high"',
);

describe('coffer-operator', () => {
  it.each(['coffer-operator', 'coffer-tenant'])('%s passes helm lint', async (chart) => {
    await run(helm, ['lint', '--strict', `${root}charts/${chart}`]);
  });
  it.each([
    ['as it comes', []],
    ['for some namespaces', namespaced],
    ['with everything on', everything],
    ['with nothing but the operator', ['--set', 'crds.enabled=false,rbac.create=false,serviceAccount.create=false']],
    ['of one replica', ['--set', 'replicas=1,networkPolicy.enabled=false']],
  ])('is taken by the API server %s', async (_title, values) => {
    const rendered = await renderChart('coffer-operator', ['--namespace', 'coffer-system', ...values]);
    expect(await refusal(withoutMonitoring(rendered))).toBe('');
  });
  it('has alerts and dashboards whole', async () => {
    const rendered = await renderChart('coffer-operator', everything);
    const rule = rendered.find(({ kind }) => kind === 'PrometheusRule') as Manifest & { spec: { groups: unknown[] } };
    const config = rendered.find(({ kind }) => kind === 'ConfigMap') as Manifest & { data: Record<string, string> };
    expect(rule.spec.groups).toHaveLength(2);
    expect(JSON.stringify(rule)).toContain('{{ $labels.namespace }}');
    for (const dashboard of ['coffer-operator.json', 'coffer-server.json']) {
      expect(JSON.parse(config.data[dashboard] ?? '')).toHaveProperty('panels');
    }
  });
  it('keeps the CRDs at uninstallation, but where told not to', async () => {
    expect(new Set(await policies())).toEqual(new Set(['keep']));
    expect(new Set(await policies('--set', 'crds.keep=false'))).toEqual(new Set([undefined]));
  });
  it('has nothing of the whole cluster but CRDs where its scope is namespaces', async () => {
    const rendered = await renderChart('coffer-operator', [
      ...namespaced,
      '--set',
      'rbac.aggregateToDefaultRoles=false',
    ]);
    const kinds = new Set(rendered.map(({ kind }) => kind));
    expect([...kinds].filter((kind) => kind.startsWith('Cluster'))).toEqual([]);
    const roles = rendered.filter(({ kind, metadata }) => kind === 'Role' && metadata.name.endsWith('coffer-operator'));
    expect(roles.map(({ metadata }) => metadata.namespace)).toEqual(['a', 'b']);
  });
  it('pins servers and key services to its own digest', async () => {
    const rendered = await renderChart('coffer-operator', [
      '--set',
      `image.digest=${digest},image.repository=r/coffer`,
    ]);
    const deployment = rendered.find(({ kind }) => kind === 'Deployment');
    expect(JSON.stringify(deployment)).toContain(`"--image=r/coffer@${digest}"`);
  });
  it('refuses namespaces that it would not watch', async () => {
    await expect(renderChart('coffer-operator', ['--set', 'watchNamespaces={a}'])).rejects.toThrow('scope: namespaces');
  });
  it('passes the strictest Pod Security Standard', async () => {
    await server?.kubectl(['create', 'namespace', 'strict']);
    await server?.kubectl(['label', 'namespace', 'strict', 'pod-security.kubernetes.io/enforce=restricted']);
    const rendered = await renderChart('coffer-operator', ['--namespace', 'strict']);
    const deployment = rendered.find(({ kind }) => kind === 'Deployment') as Manifest & { spec: { template: object } };
    const pod = { apiVersion: 'v1', kind: 'Pod', ...deployment.spec.template };
    const named = { ...pod, metadata: { name: 'operator', namespace: 'strict' } };
    const test = rendered.filter(({ kind }) => kind === 'Pod');
    expect(await refusal([named, ...test])).toBe('');
  });
});

const provider =
  'identityProviders.company=' +
  JSON.stringify({
    configUrl: 'https://sso.example.com/.well-known/openid-configuration',
    clientId: 'coffer',
    clientSecretRef: { name: 'company-client', key: 'client-secret' },
  });

describe('coffer-tenant', () => {
  it.each([
    ['as it comes', []],
    ['with an identity provider', ['--set-json', provider]],
    ['with a key service', ['--set', 'kms.enabled=true,kms.keyPrefix=demo-,kms.spec.keystore.files.size=1Gi']],
    ['with buckets', ['--set-json', 'buckets={"photos":{},"logs":{}}']],
    [
      'with a setting from a Secret',
      [
        '--set-json',
        'tenant.spec.settings=[{"name":"SVC_REGION","value":"eu"}]',
        '--set',
        'tenant.spec.rootCredentialsSecret.name=root',
      ],
    ],
  ])('is taken by the API server %s', async (_title, values) => {
    expect(await refusal(await renderChart('coffer-tenant', ['--namespace', 'a', ...values]))).toBe('');
  });
  it('holds no secret and makes none', async () => {
    const rendered = await renderChart('coffer-tenant', ['--set', 'kms.enabled=true,kms.spec.keystore.files.size=1Gi']);
    expect(rendered.map(({ kind }) => kind).sort()).toEqual(['KMSConfig', 'Tenant']);
  });
  it('refuses a key service of its own beside another', async () => {
    const values = ['--set', 'kms.enabled=true,kms.spec.keystore.files.size=1Gi,tenant.spec.kmsConfigRef.name=x'];
    await expect(renderChart('coffer-tenant', values)).rejects.toThrow('choose one');
  });
  it('refuses a key service without a keystore', async () => {
    await expect(renderChart('coffer-tenant', ['--set', 'kms.enabled=true'])).rejects.toThrow('exactly one keystore');
  });
  it('is refused by helm for a misspelt field of a spec', async () => {
    await expect(renderChart('coffer-tenant', ['--set', 'tenant.spec.storge.size=1Gi'])).rejects.toThrow('storge');
  });
});

/** What `helm install` tells at its end. */
async function notes(chart: string, ...values: string[]): Promise<string> {
  const always = [
    'install',
    'demo',
    `${root}charts/${chart}`,
    '--dry-run=server',
    '--take-ownership',
    '--namespace',
    'a',
  ];
  const { stdout } = await run(helm, [...always, '--kubeconfig', server?.kubeconfig ?? '', ...values], {
    maxBuffer: 64 << 20,
  });
  return stdout.split('\nNOTES:\n')[1] ?? '';
}

describe('notes', () => {
  it('of coffer-operator warn of an image by its tag', async () => {
    expect(await notes('coffer-operator')).toContain('Pin it in production');
    expect(await notes('coffer-operator', '--set', `image.digest=${digest}`)).not.toContain('Pin it');
  });
  it('of coffer-operator name the namespaces', async () => {
    expect(await notes('coffer-operator', ...namespaced)).toContain('watches a, b.');
  });
  it('of coffer-tenant lead to the server and the root password', async () => {
    const text = await notes('coffer-tenant', '--set', 'tenant.spec.addresses.s3.port=9443');
    expect(text).toContain('demo-server.a.svc:9443');
    expect(text).toContain('service/demo-server 9443 9090');
    expect(text).toContain('demo-root-credentials');
  });
});

describe('what is made from the chart', () => {
  it('is as the chart makes it', async () => {
    for (const [path, content] of await filesOfTheChart())
      expect(readFileSync(root + path, 'utf8'), path).toBe(content);
  });
  it('is applied by kubectl apply -k', async () => {
    await server?.kubectl([
      'apply',
      '--dry-run=server',
      '--server-side',
      '--validate=strict',
      '-k',
      `${root}deploy/kustomize`,
    ]);
  });
  it('is one image in kustomize: replacing it replaces that of servers and key services', async () => {
    const output = (await server?.kubectl(['kustomize', `${root}deploy/kustomize`])) ?? '';
    const image = /^\s+image: (\S+)$/m.exec(output)?.[1];
    expect(output).toContain(`--image=${image}`);
  });
});
