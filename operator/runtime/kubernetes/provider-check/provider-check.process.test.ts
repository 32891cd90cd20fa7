import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KubernetesDouble } from '../../../../test/support/kubernetes/kubernetes-double.ts';
import { OpenIdError } from '../../../../platform/openid/errors.ts';
import { identityProviderSpec } from '../../../api/identity-provider.ts';
import type { IdentityProvider } from '../../../api/object.ts';
import { KubeClient } from '../../../kube-client/kube-client.ts';
import type { KubeObject } from '../../../kube-client/kube-api.ts';
import { ResourceCache } from '../../../kube-client/resource-cache.ts';
import { resourceTypes } from '../../../kube-client/resource-types.ts';
import type { ProviderCheck } from '../../../reconcile/identity-provider/check-provider.ts';
import type { PodOptions } from '../../../contract/workload.ts';
import { checkProviderProgram } from './check-provider-program.ts';
import { fullServer, plainOptions } from '../../../../test/support/operator/example-workload.ts';
import { podSelector } from '../objects/labels.ts';
import { CheckPods } from '../workload/check-pods.ts';
import { PodProviderCheck } from './provider-check.ts';
import { readAnswer, writeAnswer, writeRequest } from './provider-check-message.ts';

const provider: IdentityProvider = {
  kind: 'IdentityProvider',
  metadata: { name: 'staff' },
  spec: identityProviderSpec.parse({
    configUrl: 'https://id.example.com/.well-known/openid-configuration',
    clientId: 'coffer',
    clientSecretRef: { name: 'client', key: 'secret' },
  }),
};
const good: ProviderCheck = { kind: 'good', issuer: 'https://id.example.com', warnings: [] };

describe('a check by a pod', () => {
  let double: KubernetesDouble;
  let check: PodProviderCheck;
  let checkPods: CheckPods;
  let seen: { readonly pod: KubeObject; readonly secrets: readonly KubeObject[] } | undefined;
  let cache: ResourceCache;

  const open = async (
    answer: { readonly exitCode: number; readonly message: string } | undefined,
    timeoutMs = 90_000,
    pod?: PodOptions,
  ) => {
    double = await KubernetesDouble.start({
      simulatePods: answer !== undefined,
      providerCheck: (pod) => {
        seen = { pod, secrets: double.list('secrets', 'default') };
        return answer ?? { exitCode: 0, message: '' };
      },
    });
    const owner = double.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'staff', namespace: 'default' },
    });
    const api = new KubeClient({
      server: new URL(double.url),
      tls: {},
      authorization: () => Promise.resolve(`Bearer ${double.token}`),
      namespace: undefined,
    });
    cache = new ResourceCache(resourceTypes.pod, { failed: () => undefined });
    const uid = owner.metadata.uid ?? '';
    checkPods = new CheckPods({ api, pods: cache, namespace: 'default', random: () => 0.5 });
    check = new PodProviderCheck({
      pods: checkPods,
      namespace: 'default',
      owner: () => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'staff', uid, controller: true }),
      image: 'coffer:1',
      pod: () => pod,
      timeoutMs,
    });
    double.onChange((before, after) => checkPods.onEvent(before, after));
  };
  /** The only pod gets this status, as a kubelet would give it. */
  const pods = () => double.list('pods', 'default');
  const becomes = async (status: object) => {
    await double.until(() => pods().length === 1, 'a pod');
    const [pod] = pods();
    double.putStatus({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: pod?.metadata.name, namespace: 'default' },
      status,
    });
  };
  beforeEach(() => {
    seen = undefined;
  });
  afterEach(() => double.stop());

  it('answers what the pod says, and leaves nothing behind', async () => {
    await open({ exitCode: 0, message: writeAnswer(good) });
    expect(await check.check(provider, 'client-secret-value')).toEqual(good);
    await double.until(() => double.list('pods', 'default').length === 0, 'no pod');
    expect(double.list('secrets', 'default')).toEqual([]);
  });

  it('gives the pod its secret in a Secret alone', async () => {
    await open({ exitCode: 0, message: writeAnswer(good) });
    await check.check(provider, 'client-secret-value');
    expect(JSON.stringify(seen?.pod)).not.toContain('client-secret-value');
    const [secret] = seen?.secrets ?? [];
    const request = Buffer.from(
      (secret?.['data'] as Record<string, string> | undefined)?.['request.json'] ?? '',
      'base64',
    ).toString();
    expect(JSON.parse(request)).toMatchObject({ clientSecret: 'client-secret-value' });
  });

  it('runs the pod in the network of servers, restricted', async () => {
    await open({ exitCode: 0, message: writeAnswer(good) });
    await check.check(provider, 'x');
    expect(seen?.pod.metadata.labels).toMatchObject({
      'app.kubernetes.io/component': 'provider-check',
      'coffer.dev/network': 'server',
    });
    expect(JSON.stringify(seen?.pod['spec'])).toContain('"runAsNonRoot":true');
  });

  it('runs the pod as servers of the tenant run', async () => {
    await open({ exitCode: 0, message: writeAnswer(good) }, undefined, fullServer().kubernetes.pod);
    await check.check(provider, 'x');
    expect(seen?.pod.metadata.labels).toMatchObject({ team: 'a' });
    expect(seen?.pod['spec']).toMatchObject({
      imagePullSecrets: [{ name: 'pull' }],
      serviceAccountName: 'storage',
      tolerations: [{ key: 'storage', operator: 'Exists' }],
      nodeSelector: { disk: 'ssd' },
      runtimeClassName: 'gvisor',
      securityContext: { fsGroup: 2000 },
    });
    expect(JSON.stringify(seen?.pod)).not.toMatch(/affinity|1Gi/i);
  });

  it('never looks like a server to a Service, whatever labels a tenant gives its pods', async () => {
    const labels = { ...podSelector('demo'), team: 'a' };
    await open({ exitCode: 0, message: writeAnswer(good) }, undefined, { ...plainOptions.pod, labels });
    await check.check(provider, 'x');
    expect(seen?.pod.metadata.labels).toHaveProperty('team');
    expect(seen?.pod.metadata.labels).not.toMatchObject(podSelector('demo'));
  });

  it('says what keeps the pod from running', async () => {
    await open(undefined);
    const result = check.check(provider, 'x');
    const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
    await becomes({ containerStatuses: [{ name: 'provider-check', restartCount: 0, state: { waiting } }] });
    expect(await result).toMatchObject({ kind: 'broken', reason: 'CheckFailed' });
    expect(JSON.stringify(await result)).toContain('ImagePullBackOff: no such image');
  });

  it('says how a pod ended that had no answer', async () => {
    await open({ exitCode: 1, message: 'coffer-operator: out of memory' });
    expect(JSON.stringify(await check.check(provider, 'x'))).toContain('out of memory');
  });

  it('says why a pod did not get anywhere in time', async () => {
    await open(undefined, 1_000);
    const result = check.check(provider, 'x');
    await becomes({ conditions: [{ type: 'PodScheduled', status: 'False', message: 'no room' }] });
    expect(JSON.stringify(await result)).toContain('no answer in 1 s; its pod: no node takes it: no room');
  });

  it('ends with the operator', async () => {
    await open(undefined);
    const result = check.check(provider, 'x');
    await double.until(() => pods().length === 1, 'a pod');
    checkPods.close();
    expect(await result).toMatchObject({ kind: 'broken', reason: 'CheckFailed' });
  });

  it('removes at its start what an operator before left behind', async () => {
    await open({ exitCode: 0, message: '' });
    const labels = {
      'app.kubernetes.io/managed-by': 'coffer-operator',
      'app.kubernetes.io/component': 'provider-check',
    };
    const metadata = { name: 'staff-check-1', namespace: 'default', labels };
    cache.take(
      double.put({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'a', image: 'b' }] } }),
    );
    double.put({ apiVersion: 'v1', kind: 'Secret', metadata });
    double.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'other', namespace: 'default' } });
    await checkPods.cleanUp();
    await double.until(() => double.list('pods', 'default').length === 0, 'no pod');
    expect(double.list('secrets', 'default').map(({ metadata: { name } }) => name)).toEqual(['other']);
  });
});

describe('the program of the pod', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'check-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('writes what is wrong with the provider', async () => {
    await writeFile(join(folder, 'request'), writeRequest({ provider, clientSecret: 'x' }));
    await checkProviderProgram(join(folder, 'request'), join(folder, 'log'), {
      discover: () => Promise.reject(new OpenIdError('Unreachable', 'no such host')),
      probeClient: () => Promise.reject(new Error('not asked')),
      probeRedirect: () => Promise.reject(new Error('not asked')),
      createKeycloakAdmin: () => {
        throw new Error('not asked');
      },
    });
    expect(readAnswer(await readFile(join(folder, 'log'), 'utf8'))).toMatchObject({
      kind: 'broken',
      reason: 'Unreachable',
    });
  });
});

describe('an answer', () => {
  it('fits into a termination message, however long it is', () => {
    const long: ProviderCheck = {
      kind: 'good',
      issuer: 'https://id',
      warnings: Array.from({ length: 50 }, () => 'é'.repeat(9_000)),
    };
    expect(Buffer.byteLength(writeAnswer(long))).toBeLessThanOrEqual(4096);
    expect(readAnswer(writeAnswer(long))?.kind).toBe('good');
  });
  it.each([undefined, '', '{}', '{"kind":"broken","reason":"not a reason!","message":""}'])('is not %j', (text) => {
    expect(readAnswer(text)).toBeUndefined();
  });
});
