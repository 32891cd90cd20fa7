import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KubeClient } from '../../operator/kube-client/kube-client.ts';
import { fromKubeconfig } from '../../operator/kube-client/connection.ts';
import type { KubeObject } from '../../operator/kube-client/kube-api.ts';
import { resourceTypes } from '../../operator/kube-client/resource-types.ts';
import { standardCertificateTimes } from '../../operator/runtime/kubernetes/certificates/certificate-times.ts';
import { ClusterCaches } from '../../operator/runtime/kubernetes/cluster-caches.ts';
import { KubernetesRuntime } from '../../operator/runtime/kubernetes/workload/kubernetes-runtime.ts';
import { exampleServer, plainOptions } from '../support/operator/example-workload.ts';
import type { OperatorEvent } from '../../operator/reconcile/reconciler-options.ts';
import type { PodOptions, Workload } from '../../operator/contract/workload.ts';
import type { Secret } from '../../operator/contract/secret.ts';
import { startKubernetes } from '../../operator/runtime/kubernetes/start-kubernetes.ts';
import { createLogger } from '../../platform/output/logger.ts';
import { mutatingPolicy, mutatingRules } from '../support/cluster/mutating-policies.ts';
import { startApiServer, type ApiServer, untilEstablished } from './cluster.ts';

// What only a real API server can show: which fields it refuses, who owns what somebody edited, which events it selects, and how it
// refuses new objects of a namespace that is being deleted.

let server: ApiServer;
let api: KubeClient;
let caches: ClusterCaches;
let runtime: KubernetesRuntime;
let owner: KubeObject;
const events: OperatorEvent[] = [];

const secrets = new Map<string, Secret>([
  ['root', { name: 'root', data: { rootPassword: 'a' } }],
  ['tls', { name: 'tls', data: { 'tls.crt': 'c' } }],
]);

beforeAll(async () => {
  server = await startApiServer();
  const connection = await fromKubeconfig({ file: server.kubeconfig });
  api = new KubeClient(connection);
  owner = await api.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'demo', namespace: 'default' },
  });
  caches = new ClusterCaches({
    api,
    namespaces: ['default'],
    random: Math.random,
    restarted: () => undefined,
    failed: (error) => {
      throw error;
    },
  });
  runtime = new KubernetesRuntime({
    api,
    caches: caches.forRuntime(),
    namespace: 'default',
    owner: () => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'demo',
      uid: owner.metadata.uid ?? '',
      controller: true,
      blockOwnerDeletion: false,
    }),
    images: { default: 'coffer:1' },
    operatorNamespace: undefined,
    fingerprint: (value) => `digest of ${value.length}`,
    certificateTimes: standardCertificateTimes,
    now: () => new Date(),
    random: Math.random,
    event: (event) => events.push(event),
    log: { info: () => undefined, warn: () => undefined },
  });
  for (const [, cache] of caches.entries()) cache.onChange((before, after) => runtime.onEvent(before, after));
  caches.start();
}, 360_000);
afterAll(async () => {
  runtime.close();
  await caches.stop();
  api.close();
  await server.stop();
});
beforeEach(() => {
  events.length = 0;
});

const withPod = (pod: Partial<PodOptions>): Workload =>
  exampleServer({ kubernetes: { ...plainOptions, pod: { ...plainOptions.pod, ...pod } } });

/** Gives the operator what the server has now. */
async function look(): Promise<void> {
  for (const name of ['statefulSets', 'services', 'networkPolicies'] as const) {
    const cache = caches.get(name);
    for (const object of (await api.list(cache.type, { namespace: 'default' })).items) cache.wrote(object);
  }
  await runtime.refresh(exampleServer(), secrets);
}

const live = (kind: 'statefulset' | 'service') =>
  server
    .kubectl(['get', kind, 'demo', '--show-managed-fields', '-o', 'json'])
    .then((text) => JSON.parse(text) as KubeObject);

describe('what the API server refuses', () => {
  const cases: readonly [string, Workload, RegExp][] = [
    ['a typing error in resources', withPod({ resources: { request: { cpu: '1' } } }), /StatefulSet demo: .*request/],
    [
      'an operator of tolerations',
      withPod({ tolerations: [{ operator: 'Nope' }] }),
      /StatefulSet demo: .*tolerations\[0\]\.operator.*Nope/,
    ],
    [
      'a node port',
      exampleServer({
        kubernetes: {
          ...plainOptions,
          services: { s3: { type: 'NodePort', nodePort: 80, labels: {}, annotations: {} } },
        },
      }),
      /Service demo-s3: .*nodePort.*80/,
    ],
  ];
  it.each(cases)('is told with object and field: %s', async (_, workload, message) => {
    await runtime.apply(workload, secrets);
    const rejected = (await runtime.observeOne('demo'))?.rejected;
    expect(rejected?.reason).toBe('ObjectRefused');
    expect(rejected?.message).toMatch(message);
  });
});

describe('what was changed by hand', () => {
  it('is put back: image, variables, a command; and is nobody else’s afterwards', async () => {
    await runtime.apply(exampleServer(), secrets);
    const before = await live('statefulset');
    await server.kubectl(['set', 'image', 'statefulset/demo', 'server=evil:1']);
    await server.kubectl(['set', 'env', 'statefulset/demo', 'NODE_OPTIONS=--require=/tmp/x.js']);
    const patch = [{ op: 'add', path: '/spec/template/spec/nodeSelector', value: { disk: 'slow' } }];
    await server.kubectl(['patch', 'statefulset', 'demo', '--type=json', '-p', JSON.stringify(patch)]);
    await look();
    const after = await live('statefulset');
    expect((after['spec'] as { template: unknown }).template).toEqual(
      (before['spec'] as { template: unknown }).template,
    );
    expect(JSON.stringify(after.metadata)).not.toContain('kubectl');
    expect(events.map(({ reason }) => reason)).toEqual(['Drift']);
  });

  it('is put back once', async () => {
    const { resourceVersion } = (await live('statefulset')).metadata;
    await look();
    expect((await live('statefulset')).metadata.resourceVersion).toBe(resourceVersion);
  });

  it('is put back where a variable was taken out', async () => {
    await server.kubectl(['set', 'env', 'statefulset/demo', 'SVC_REGION-']);
    await look();
    expect(JSON.stringify((await live('statefulset'))['spec'])).toContain('SVC_REGION');
  });

  it('is put back at a Service, which keeps its address', async () => {
    const before = await live('service');
    const patch = [
      { op: 'replace', path: '/spec/ports/0/port', value: 9001 },
      { op: 'add', path: '/spec/selector/extra', value: 'nobody' },
    ];
    await server.kubectl(['patch', 'service', 'demo', '--type=json', '-p', JSON.stringify(patch)]);
    await look();
    expect((await live('service'))['spec']).toEqual(before['spec']);
  });
});

const setStatus = () =>
  server.kubectl([
    'patch',
    'statefulset',
    'demo',
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status: { replicas: 0, observedGeneration: 1_000, updateRevision: 'demo-abc' } }),
  ]);

describe('what a mutating policy of the cluster changes', () => {
  it.each(['image', 'variable', 'user'] as const)(
    'is told, and is no change by hand: %s',
    async (kind) => {
      await runtime.apply(exampleServer(), secrets);
      events.length = 0;
      const policy = mutatingPolicy('of-the-cluster', 'default', mutatingRules[kind]('statefulsets'));
      const file = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: policy });
      await server.kubectl(['apply', '-f', '-'], file);
      try {
        // The status names a revision, so that a change by hand would be recorded.
        await expect
          .poll(
            async () => {
              await setStatus();
              const { metadata } = await live('statefulset');
              const status = { observedGeneration: metadata.generation };
              await server.kubectl([
                'patch',
                'statefulset',
                'demo',
                '--subresource=status',
                '--type=merge',
                '-p',
                JSON.stringify({ status }),
              ]);
              // The API server applies a policy some moments after it was created. Any write shows if it does.
              await server.kubectl(['annotate', 'statefulset', 'demo', '--overwrite', `look=${Date.now()}`]);
              await look();
              return (await runtime.observeOne('demo'))?.clusterRules?.map(({ object, managers }) => [
                object,
                managers,
              ]);
            },
            { timeout: 180_000, interval: 1_000 },
          )
          .toEqual([['StatefulSet demo', []]]);
        const before = await live('statefulset');
        for (let time = 0; time < 3; time++) await look();
        const after = await live('statefulset');
        expect(after.metadata.generation).toBe(before.metadata.generation);
        expect(after.metadata.annotations).not.toHaveProperty(['coffer.dev/drifted']);
        expect(events).toEqual([]);
      } finally {
        await server.kubectl(['delete', '-f', '-'], file);
        await server.kubectl(['delete', 'statefulset', 'demo', '--cascade=background', '--wait=false']);
        await expect.poll(() => caches.get('statefulSets').get('default', 'demo'), { timeout: 60_000 }).toBeUndefined();
        await expect
          .poll(() =>
            runtime.apply(exampleServer(), secrets).then(() => caches.get('statefulSets').get('default', 'demo')),
          )
          .toBeDefined();
      }
    },
    90_000,
  );
});

describe('why a pod was not made', () => {
  it('is read from the event of the StatefulSet', async () => {
    const { uid } = (await live('statefulset')).metadata;
    const words = 'pods "demo-0" is forbidden: exceeded quota: compute';
    await api.create({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'demo.1', namespace: 'default' },
      involvedObject: { apiVersion: 'apps/v1', kind: 'StatefulSet', namespace: 'default', name: 'demo', uid },
      reason: 'FailedCreate',
      type: 'Warning',
      message: `create Pod demo-0 in StatefulSet demo failed error: ${words}`,
      lastTimestamp: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    });
    await expect
      .poll(async () => (await runtime.observeOne('demo'))?.instances.map(({ state }) => state), { timeout: 60_000 })
      .toEqual([{ kind: 'broken', restarts: 0, message: words, rejected: true }]);
    expect(resourceTypes.coreEvent.plural).toBe('events');
  });
});

describe('an operator that comes back to a namespace that is being deleted', () => {
  it('lets a KMSConfig go, though it can make no Secret there', async () => {
    const kubectl = (args: readonly string[], input?: string) => server.kubectl(args, input);
    await kubectl(['apply', '-f', fileURLToPath(new URL('../../crds', import.meta.url))]);
    await untilEstablished(kubectl, ['kmsconfigs.coffer.dev']);
    await kubectl(['create', 'namespace', 'ending']);
    const keys = {
      apiVersion: 'coffer.dev/v1alpha1',
      kind: 'KMSConfig',
      metadata: { name: 'keys', namespace: 'ending', finalizers: ['coffer.dev/kmsconfig'] },
      spec: { keystore: { files: { size: '1Gi' } }, defaultKey: 'main' },
    };
    await kubectl(['create', '-f', '-'], JSON.stringify(keys));
    await kubectl(['delete', 'namespace', 'ending', '--wait=false']);
    // No controller of namespaces runs beside this API server.
    await kubectl(['delete', 'kmsconfig', 'keys', '--namespace', 'ending', '--wait=false']);
    const operator = await startKubernetes({
      connection: await fromKubeconfig({ file: server.kubeconfig }),
      identity: 'operator-of-the-test',
      maxConcurrentRollouts: 1,
      image: 'coffer:1',
      log: createLogger({ name: 'operator', level: 'silent' }),
      onStoppedLeading: () => undefined,
    });
    try {
      await expect
        .poll(() => kubectl(['get', 'kmsconfigs', '--namespace', 'ending', '-o', 'name']), { timeout: 60_000 })
        .toBe('');
    } finally {
      await operator.stop();
    }
    await expect(kubectl(['create', 'configmap', 'late', '--namespace', 'ending'])).rejects.toThrow(/being terminated/);
  }, 270_000);
});
