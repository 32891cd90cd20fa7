import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { renderChart } from '../../deploy/render-chart.ts';
import { runCommand } from '../support/process/run-command.ts';
import { startApiServer, type ApiServer, untilEstablished } from './cluster.ts';

// The operator against a real API server as the service account of the chart, with the Roles of the chart and no more.

const root = fileURLToPath(new URL('../../', import.meta.url));
let server: ApiServer;
let operator: ChildProcess | undefined;
let folder = '';
let log = '';

interface Kubeconfig {
  readonly users: { name: string; user: object }[];
  readonly contexts: { name: string; context: Record<string, string> }[];
}

async function kubeconfigOf(token: string): Promise<string> {
  const config = parse(await readFile(server.kubeconfig, 'utf8')) as Kubeconfig;
  for (const user of config.users) user.user = { token };
  for (const { context } of config.contexts) context['namespace'] = 'coffer-system';
  const path = join(folder, 'operator.kubeconfig');
  await writeFile(path, stringify(config));
  return path;
}

/** Asks again until the API server has something to show. */
async function appears(args: readonly string[]): Promise<void> {
  await expect
    .poll(() => server.kubectl(['get', ...args, '--ignore-not-found', '-o', 'name']), {
      timeout: 180_000,
      interval: 250,
      message: `${args.join(' ')} appears`,
    })
    .not.toBe('');
}

const manifests = `
apiVersion: coffer.dev/v1alpha1
kind: KMSConfig
metadata: {name: keys, namespace: team-a}
spec: {keystore: {files: {size: 1Gi}}, defaultKey: demo-default, replicas: 2}
---
apiVersion: coffer.dev/v1alpha1
kind: Tenant
metadata: {name: demo, namespace: team-a}
spec: {storage: {size: 1Gi}, ingress: {s3: {host: s3.example.com}}}
---
apiVersion: coffer.dev/v1alpha1
kind: Tenant
metadata: {name: other, namespace: team-b}
spec: {storage: {size: 1Gi}}
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-operator-'));
  server = await startApiServer();
  for (const name of ['coffer-system', 'team-a', 'team-b']) await server.kubectl(['create', 'namespace', name]);
  const values = ['--set', 'scope=namespaces', '--set', 'watchNamespaces={team-a}'];
  const rendered = await renderChart('coffer-operator', ['--namespace', 'coffer-system', ...values]);
  const kinds = ['CustomResourceDefinition', 'ServiceAccount', 'Role', 'RoleBinding'];
  const items = rendered.filter(({ kind }) => kinds.includes(kind));
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await server.kubectl(['apply', '--server-side', '-f', '-'], list);
  const crds = items.filter(({ kind }) => kind === 'CustomResourceDefinition').map(({ metadata }) => metadata.name);
  await untilEstablished((args) => server.kubectl(args), crds);
  await server.kubectl(['apply', '-f', '-'], manifests);
  const account = rendered.find(({ kind }) => kind === 'ServiceAccount')?.metadata.name ?? '';
  const token = (await server.kubectl(['create', 'token', account, '--namespace', 'coffer-system'])).trim();
  const options = ['--kubeconfig', await kubeconfigOf(token), '--namespace', 'team-a', '--leader-election'];
  operator = spawn(process.execPath, [`${root}operator/main.ts`, 'kubernetes', ...options], { stdio: 'pipe' });
  for (const stream of [operator.stdout, operator.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (log += text));
  }
}, 360_000);

afterAll(async () => {
  operator?.kill();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}, 180_000);

describe('with the Roles of the chart', () => {
  it.each([
    ['leads', ['lease/coffer-operator', '-n', 'coffer-system']],
    ['runs the key service', ['statefulset/keys-key-service', '-n', 'team-a']],
    ['runs the server', ['statefulset/demo-server', '-n', 'team-a']],
    ['gives it an address', ['service/demo-server', '-n', 'team-a']],
    ['makes the root credentials', ['secret/demo-root-credentials', '-n', 'team-a']],
    ['makes the budget', ['poddisruptionbudget', '-n', 'team-a']],
    ['makes the network policy', ['networkpolicy/keys-key-service', '-n', 'team-a']],
    ['makes the ingress', ['ingress', '-n', 'team-a']],
    ['tells events', ['events.events.k8s.io', '-n', 'team-a']],
  ])(
    'the operator %s',
    async (_title, args) => {
      await appears(args);
    },
    90_000,
  );
  it('the operator writes the status', async () => {
    const ready = 'jsonpath={.status.conditions[?(@.type=="Ready")].reason}';
    await expect
      .poll(() => server.kubectl(['get', 'tenant/demo', '-n', 'team-a', '-o', ready]), { timeout: 90_000 })
      .not.toBe('');
  });
  it('the operator is refused nothing that it asks for', () => {
    // cert-manager and the Prometheus operator are not here: those types are not found, and not forbidden.
    expect(log.split('\n').filter((line) => /forbidden/i.test(line))).toEqual([]);
  });
  it('kubectl coffer shows what the operator made of it, and that it is not ready', async () => {
    const options = ['status', 'demo', '--namespace', 'team-a', '--kubeconfig', server.kubeconfig];
    const { code, stdout } = await runCommand(process.execPath, [`${root}bin/kubectl-coffer.js`, ...options]);
    expect(stdout).toContain('Tenant demo');
    expect(stdout).toContain('└─ ');
    expect(code).toBe(3);
  });
  it('the operator leaves other namespaces alone', async () => {
    expect(await server.kubectl(['get', 'statefulset,secret', '-n', 'team-b', '-o', 'name'])).toBe('');
    expect(await server.kubectl(['get', 'tenant/other', '-n', 'team-b', '-o', 'jsonpath={.status}'])).toBe('');
  });
});
