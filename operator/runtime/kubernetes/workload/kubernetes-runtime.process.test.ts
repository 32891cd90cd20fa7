import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../../../test/support/kubernetes/faults.ts';
import { KubernetesDouble } from '../../../../test/support/kubernetes/kubernetes-double.ts';
import type { Secret } from '../../../contract/secret.ts';
import { KubeClient } from '../../../kube-client/kube-client.ts';
import { resourceTypes } from '../../../kube-client/resource-types.ts';
import type { OperatorEvent } from '../../../reconcile/reconciler-options.ts';
import { restartReasons } from '../../../reconcile/rollout.ts';
import type { KubeObject } from '../../../kube-client/kube-api.ts';
import { text, type RestartInput, type Workload } from '../../../contract/workload.ts';
import { podSelector } from '../objects/labels.ts';
import { standardCertificateTimes } from '../certificates/certificate-times.ts';
import { ClusterCaches } from '../cluster-caches.ts';
import { KubernetesRuntime } from './kubernetes-runtime.ts';
import { exampleServer, plainOptions } from '../../../../test/support/operator/example-workload.ts';

let double: KubernetesDouble;
let caches: ClusterCaches;
let runtime: KubernetesRuntime;
/** Makes the runtime of an operator that starts. */
let open: () => KubernetesRuntime;
let asked: string[];
let waitsFor: string | undefined;
let events: OperatorEvent[];
let clockAheadMs: number;
let byHand: KubeClient;

beforeEach(async () => {
  double = await KubernetesDouble.start();
  const connection = {
    server: new URL(double.url),
    tls: {},
    authorization: () => Promise.resolve(`Bearer ${double.token}`),
    namespace: undefined,
  };
  const api = new KubeClient(connection);
  // Stands for the Tenant: what owns the objects.
  const owner = double.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'demo', namespace: 'default' } });
  caches = new ClusterCaches({
    api,
    namespaces: undefined,
    random: () => 0.5,
    restarted: () => undefined,
    failed: (error) => {
      throw error;
    },
  });
  asked = [];
  waitsFor = undefined;
  clockAheadMs = 0;
  events = [];
  byHand = new KubeClient(connection, { fieldManager: 'kubectl-edit' });
  open = () =>
    new KubernetesRuntime({
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
      fingerprint: (value) => `digest of ${value}`,
      certificateTimes: standardCertificateTimes,
      askHealth: ({ url }) => {
        asked.push(url);
        return Promise.resolve({ status: 503, ...(waitsFor === undefined ? {} : { waitsFor }) });
      },
      now: () => new Date(Date.now() + clockAheadMs),
      random: () => 0.5,
      event: (event) => events.push(event),
      log: { info: () => undefined, warn: () => undefined },
    });
  runtime = open();
  for (const [, cache] of caches.entries()) cache.onChange((before, after) => runtime.onEvent(before, after));
  caches.start();
  await caches.synced();
});
afterEach(async () => {
  runtime.close();
  await caches.stop();
  await double.stop();
});

const secrets = (password = 'a', certificate = 'c'): ReadonlyMap<string, Secret> =>
  new Map<string, Secret>([
    ['root', { name: 'root', data: { rootPassword: password } }],
    ['tls', { name: 'tls', data: { 'tls.crt': certificate } }],
  ]);

const input = (fingerprint: string): readonly RestartInput[] => [
  { reason: 'ImageChanged', field: 'spec.image', of: { kind: 'Tenant', name: 'demo' }, fingerprint },
];

function pods(): readonly KubeObject[] {
  return double.list('pods', 'default');
}

function uid(): string | undefined {
  return pods()[0]?.metadata.uid;
}

function image(pod: KubeObject | undefined): string | undefined {
  return (pod?.['spec'] as { containers: { image: string }[] } | undefined)?.containers[0]?.image;
}

function statefulSet(): unknown {
  return double.get('statefulsets.apps', 'default', 'demo')?.['spec'];
}

function fileSecrets(): readonly string[] {
  return double
    .list('secrets', 'default')
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.startsWith('demo-files-'));
}

async function settled(workload: Workload, password = 'a'): Promise<void> {
  await runtime.apply(workload, secrets(password));
  await until('every instance is ready', async () => {
    const seen = await runtime.observeOne('demo');
    return seen?.state.kind === 'ready' && seen.instances.length === workload.replicas;
  });
}

/** Of what the runtime sees: its caches follow the API server. */
async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = Date.now() + 15_000; Date.now() < end;) {
    if (await holds()) return;
    await double.until(() => true, what);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`waited for: ${what}`);
}

const container = (name: string) => {
  const { spec } = (statefulSet() as { template: { spec: { containers: Record<string, unknown>[] } } }).template;
  return spec.containers[0]?.[name];
};

describe('a first apply', () => {
  it('makes the objects, and starts the instances', async () => {
    await settled(exampleServer({ replicas: 2 }));
    expect(await runtime.observe()).toMatchObject([
      {
        name: 'demo',
        wanted: 2,
        inputs: exampleServer().inputs,
        instances: [
          { name: 'demo-0', inputs: exampleServer().inputs, version: '1' },
          { name: 'demo-1', inputs: exampleServer().inputs },
        ],
        addresses: { s3: 'demo.default.svc:9000', console: 'demo.default.svc:9090' },
      },
    ]);
    expect(double.get('poddisruptionbudgets.policy', 'default', 'demo')).toBeDefined();
  });

  it('takes nothing over that has another owner, and says whose it is', async () => {
    double.put({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'demo', namespace: 'default' },
      spec: { ports: [{ port: 1 }] },
    });
    await runtime.apply(exampleServer(), secrets());
    const seen = await runtime.observeOne('demo');
    expect(seen?.rejected).toMatchObject({ reason: 'Conflict' });
    expect(seen?.rejected?.message).toContain('Service demo was not made by the operator');
    expect(double.get('services', 'default', 'demo')?.['spec']).toMatchObject({ ports: [{ port: 1 }] });
  });
});

const keyService = (sealedFor: readonly string[] = ['Tenant demo']) =>
  exampleServer({
    program: 'keysvc',
    arguments: [text`server`],
    mounts: [
      ...exampleServer().mounts.filter(({ kind }) => kind === 'files'),
      { kind: 'volume', name: 'keys', claim: { kind: 'shared', accessMode: 'ReadWriteOnce', sealedFor } },
    ],
    check: {
      arguments: [text`check`],
      argumentsOfFound: [text`check`, text`--complete`],
      inputs: [],
      needsContent: sealedFor.length > 0,
      expects: '',
    },
  });

describe('the keys of a key service', () => {
  const claimName = 'demo-keys';
  const putClaim = (metadata: object = {}) =>
    double.put({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: claimName, namespace: 'default', ...metadata },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
  const claim = () => double.get('persistentvolumeclaims', 'default', claimName)?.metadata;
  const checked: KubeObject[] = [];
  beforeEach(() => {
    checked.length = 0;
    double.keystoreCheck = (pod) => {
      checked.push(pod);
      return { exitCode: 1, message: 'Error: the key "first" is not there\n' };
    };
  });

  it('are checked by a pod as an instance would run, which leaves nothing behind', async () => {
    putClaim();
    expect(await runtime.check(keyService(), secrets(), [])).toBe('the key "first" is not there');
    const [pod] = checked;
    expect(pod?.['spec']).toMatchObject({
      restartPolicy: 'Never',
      containers: [{ image: 'coffer:1', args: ['check'] }],
    });
    expect(JSON.stringify(pod?.['spec'])).toContain(`"claimName":"${claimName}"`);
    expect(pod?.metadata.labels).not.toMatchObject(podSelector('demo'));
    await double.until(() => pods().length === 0, 'no pod');
    expect(double.list('secrets', 'default').filter(({ metadata }) => metadata.name.includes('-check-'))).toEqual([]);
  });

  it('pass where the check does', async () => {
    putClaim();
    double.keystoreCheck = () => ({ exitCode: 0, message: '' });
    expect(await runtime.check(keyService(), secrets(), [])).toBeUndefined();
  });

  it('are not on a volume that does not exist, which no pod has to find out', async () => {
    expect(await runtime.check(keyService(), secrets(), [])).toMatch(/demo-keys does not exist/);
    expect(await runtime.check(keyService([]), secrets(), [])).toBeUndefined();
    expect(checked).toEqual([]);
  });

  it('are all asked for on a volume that was found', async () => {
    putClaim();
    expect(await runtime.foundVolumes(keyService())).toEqual([claimName]);
    await runtime.check(keyService(), secrets(), [claimName]);
    expect(checked[0]?.['spec']).toMatchObject({ containers: [{ args: ['check', '--complete'] }] });
  });

  it('are checked on any node while no instance runs, and on theirs while one does', async () => {
    putClaim();
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [] } };
    const workload = keyService();
    const kubernetes = { ...workload.kubernetes, pod: { ...workload.kubernetes.pod, affinity } };
    await runtime.check({ ...workload, kubernetes }, secrets(), [claimName]);
    expect(checked[0]?.['spec']).not.toHaveProperty('affinity');
    await runtime.apply({ ...workload, kubernetes }, secrets(), [claimName]);
    await until('an instance', async () => (await runtime.observeOne('demo'))?.instances.length === 1);
    await runtime.check({ ...workload, kubernetes }, secrets(), []);
    expect(checked.at(-1)?.['spec']).toMatchObject({ affinity });
  });

  it('are taken with their volume once they are proven, and belong to no resource', async () => {
    putClaim();
    const workload = keyService([]);
    await runtime.apply({ ...workload, kubernetes: { ...workload.kubernetes, reclaimPolicy: 'Delete' } }, secrets(), [
      claimName,
    ]);
    expect(claim()?.ownerReferences).toBeUndefined();
    expect(claim()?.labels).toMatchObject({ 'coffer.dev/workload': 'demo' });
    expect(await runtime.foundVolumes(workload)).toEqual([]);
    await runtime.refresh(workload, secrets());
    expect(claim()?.ownerReferences).toBeUndefined();
  });

  it('are no conflict that anything proposes to delete', async () => {
    putClaim();
    await runtime.apply(keyService(), secrets());
    const seen = await runtime.observeOne('demo');
    expect(seen?.rejected?.reason).toBe('Conflict');
    expect(seen?.rejected?.message).not.toContain('delete');
  });

  it('are found again where only the claim stayed, and not on one that nothing was sealed with', async () => {
    await runtime.apply(keyService(), secrets());
    expect(await runtime.foundVolumes(keyService())).toEqual([]);
    await runtime.remove('demo');
    await double.until(() => statefulSet() === undefined, 'no StatefulSet');
    await until('the caches follow', async () => (await runtime.foundVolumes(keyService())).length > 0);
    putClaim({ labels: claim()?.labels, annotations: { 'coffer.dev/sealed-for': '' } });
    await until('the caches follow', async () => (await runtime.foundVolumes(keyService())).length === 0);
  });
});

describe('the data volume of a server', () => {
  const server = exampleServer();
  const deployment = '11111111-1111-4111-8111-111111111111';
  const claimName = 'data-demo-0';

  it('is none before its claim, and its own once its StatefulSet has made it', async () => {
    expect(await runtime.dataVolume(server)).toBeUndefined();
    await runtime.apply(server, secrets());
    await until('the claim', async () => (await runtime.dataVolume(server)) !== undefined);
    expect(await runtime.dataVolume(server)).toEqual({ claim: claimName });
  });

  it('that was there before is not proven until it is marked, also where it has no label of the operator', async () => {
    double.put({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: claimName, namespace: 'default' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    const found = await runtime.dataVolume(server);
    expect(found).toMatchObject({ claim: claimName });
    expect(found).toHaveProperty('unproven');
    await runtime.recordDeployment(server, deployment);
    expect(await runtime.dataVolume(server)).toEqual({ claim: claimName, deployment });
    const { labels, ownerReferences } = double.get('persistentvolumeclaims', 'default', claimName)?.metadata ?? {};
    expect(labels).toMatchObject({ 'coffer.dev/workload': 'demo' });
    expect(ownerReferences).toBeUndefined();
  });

  it.each([
    [true, 'Retain'],
    [false, 'Delete'],
  ])('with reclaimPolicy Delete, and there before: %s, has the policy %s', async (isFound, whenDeleted) => {
    if (isFound) {
      double.put({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: claimName, namespace: 'default' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      });
    }
    const deleting = { ...server, kubernetes: { ...server.kubernetes, reclaimPolicy: 'Delete' } as const };
    await runtime.apply(deleting, secrets());
    await until('the claim', async () => (await runtime.dataVolume(server)) !== undefined);
    await runtime.recordDeployment(server, deployment);
    await runtime.refresh(deleting, secrets());
    expect(double.get('statefulsets.apps', 'default', 'demo')).toMatchObject({
      spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted } },
    });
  });
});

describe('what the API server refuses', () => {
  it.each(['statefulsets.apps', 'services', 'networkpolicies.networking.k8s.io'])(
    'of %s is told with its words, and is no error of the pass',
    async (resource) => {
      const refuses = (request: ApiRequest) => request.verb === 'apply' && request.resource === resource;
      double.faults.plan(1, refuses, { kind: 'status', status: 422, reason: 'Invalid' });
      const { kubernetes } = exampleServer();
      const networkPolicy = { admits: { s3: undefined }, alsoFrom: [] };
      await runtime.apply(exampleServer({ kubernetes: { ...kubernetes, networkPolicy } }), secrets());
      const seen = await runtime.observeOne('demo');
      expect(seen?.rejected?.reason).toBe('ObjectRefused');
      expect(seen?.rejected?.message).toMatch(/^the API server refuses (StatefulSet|Service|NetworkPolicy) demo/);
    },
  );

  it('is forgotten once it is taken', async () => {
    double.faults.plan(1, ({ verb, resource }) => verb === 'apply' && resource === 'statefulsets.apps', {
      kind: 'status',
      status: 403,
      reason: 'Forbidden',
    });
    await runtime.apply(exampleServer(), secrets());
    await settled(exampleServer());
    expect((await runtime.observeOne('demo'))?.rejected).toBeUndefined();
  });
});

describe('a workload that did not change', () => {
  it.each(['apply', 'refresh'] as const)('is not written by %s', async (call) => {
    await settled(exampleServer({ replicas: 2 }));
    await runtime.refresh(exampleServer({ replicas: 2 }), secrets());
    const before = double.requests.writes;
    await runtime[call](exampleServer({ replicas: 2 }), secrets());
    expect(double.requests.writes).toBe(before);
  });
});

describe('refresh', () => {
  it('changes no template, whatever is rendered otherwise', async () => {
    await settled(exampleServer());
    const before = double.get('statefulsets.apps', 'default', 'demo')?.metadata.generation;
    await runtime.refresh(exampleServer({ image: 'coffer:2', inputs: input('b') }), secrets('other'));
    expect(double.get('statefulsets.apps', 'default', 'demo')?.metadata.generation).toBe(before);
    expect(fileSecrets()).toHaveLength(1);
  });

  it('changes the number of instances and the files that reload', async () => {
    await settled(exampleServer());
    await runtime.refresh(exampleServer({ replicas: 2 }), secrets('a', 'renewed'));
    await double.until(() => pods().length === 2, 'two pods');
    const data = double.get('secrets', 'default', 'demo-reloading-files')?.['data'];
    expect(data).toEqual({ 'tls.tls.crt': Buffer.from('renewed').toString('base64') });
  });

  it('keeps a file that a pod still mounts', async () => {
    await settled(exampleServer());
    const mounts = exampleServer().mounts.map((mount) =>
      mount.kind === 'files' && mount.name === 'tls'
        ? { ...mount, files: mount.files.map((file) => ({ ...file, path: 'other.crt' })) }
        : mount,
    );
    await runtime.refresh(exampleServer({ mounts }), secrets());
    const data = double.get('secrets', 'default', 'demo-reloading-files')?.['data'];
    expect(Object.keys(data as object).sort()).toEqual(['tls.other.crt', 'tls.tls.crt']);
  });

  it('repairs what was changed by hand', async () => {
    await settled(exampleServer());
    const { metadata, ...service } = double.get('services', 'default', 'demo') as KubeObject;
    const { name, namespace, labels, annotations, ownerReferences } = metadata;
    double.put({
      ...service,
      metadata: { name, namespace, labels, annotations, ownerReferences },
      spec: { ...(service['spec'] as object), selector: { 'coffer.dev/workload': 'other' } },
    });
    await until('the change is known', () => {
      const spec = caches.get('services').get('default', 'demo')?.['spec'];
      return JSON.stringify(spec).includes('other');
    });
    await runtime.refresh(exampleServer(), secrets());
    expect(double.get('services', 'default', 'demo')?.['spec']).toMatchObject({
      selector: { 'coffer.dev/workload': 'demo' },
    });
  });

  describe('of what was changed by hand', () => {
    const server = exampleServer();
    /** Changes the StatefulSet as `kubectl edit` does, lets the operator look, and waits until all is ready again. */
    async function edited(change: (container: Record<string, unknown>) => void): Promise<void> {
      await settled(server);
      const live = structuredClone(await byHand.get(resourceTypes.statefulSet, 'default', 'demo')) as KubeObject;
      const { template } = live['spec'] as { template: { spec: { containers: Record<string, unknown>[] } } };
      for (const each of template.spec.containers) change(each);
      const { resourceVersion } = await byHand.replace(live).then(({ metadata }) => metadata);
      await until('the edit and its revision are known', () => {
        const known = caches.get('statefulSets').get('default', 'demo');
        const { observedGeneration } = (known?.['status'] ?? {}) as { observedGeneration?: number };
        return (
          Number(known?.metadata.resourceVersion) >= Number(resourceVersion) &&
          observedGeneration === known?.metadata.generation
        );
      });
    }

    it.each([
      ['the image', (one: Record<string, unknown>) => void (one['image'] = 'evil:1'), 'image', 'coffer:1'],
      [
        'a command that was added',
        (one: Record<string, unknown>) => void (one['lifecycle'] = { preStop: { sleep: { seconds: 1 } } }),
        'lifecycle',
        undefined,
      ],
      [
        'the command',
        (one: Record<string, unknown>) => void (one['command'] = ['sh']),
        'command',
        [expect.stringContaining('coffer') as string],
      ],
    ])('puts back %s, and tells who changed it', async (_, change, field, value) => {
      await edited(change);
      await runtime.refresh(server, secrets());
      if (field === 'command') expect(container(field)).not.toEqual(['sh']);
      else expect(container(field)).toEqual(value);
      expect(events.map(({ reason, message }) => `${reason} ${message}`)).toEqual([
        expect.stringMatching(
          /^Drift put back what kubectl-edit changed of StatefulSet demo: spec\.template\.spec\.containers/,
        ),
      ]);
    });

    it('takes out a variable that was added, and puts back one that was taken out', async () => {
      await edited((one) => {
        one['env'] = [{ name: 'NODE_OPTIONS', value: '--require=/tmp/x.js' }];
      });
      await runtime.refresh(server, secrets());
      expect(container('env')).toEqual([{ name: 'SVC_REGION', value: 'eu-west-1' }]);
    });

    it('puts back what was taken out and nothing else was changed', async () => {
      await edited((one) => {
        one['env'] = [];
      });
      await runtime.refresh(server, secrets());
      expect(container('env')).toEqual([{ name: 'SVC_REGION', value: 'eu-west-1' }]);
    });

    it('is done once, and leaves nothing to do', async () => {
      await edited((one) => {
        one['image'] = 'evil:1';
      });
      await runtime.refresh(server, secrets());
      const { resourceVersion } = double.get('statefulsets.apps', 'default', 'demo')?.metadata ?? {};
      await runtime.refresh(server, secrets());
      expect(double.get('statefulsets.apps', 'default', 'demo')?.metadata.resourceVersion).toBe(resourceVersion);
      expect(events).toHaveLength(1);
    });

    it('makes a pod outdated that was made meanwhile, with its own reason', async () => {
      await edited((one) => {
        one['image'] = 'evil:1';
      });
      await runtime.replace('demo', 'demo-0');
      await until('the pod runs what was changed', () => image(pods()[0]) === 'evil:1');
      await until('it is known', () => image(caches.get('pods').get('default', 'demo-0')) === 'evil:1');
      await until('the status that the controller wrote is known', () => {
        const newest = double.get('statefulsets.apps', 'default', 'demo')?.metadata.resourceVersion;
        return newest === caches.get('statefulSets').get('default', 'demo')?.metadata.resourceVersion;
      });
      await runtime.refresh(server, secrets());
      const [instance] = (await runtime.observeOne('demo'))?.instances ?? [];
      expect(restartReasons(instance?.inputs ?? [], server.inputs, server.owner)).toEqual([
        { reason: 'Drift', field: 'pod template of Tenant demo' },
      ]);
    });

    it('puts back the port of a Service', async () => {
      await settled(server);
      const live = structuredClone(await byHand.get(resourceTypes.service, 'default', 'demo')) as KubeObject;
      const { ports } = live['spec'] as { ports: { port: number }[] };
      for (const port of ports) if (port.port === 9000) port.port = 9001;
      await byHand.replace(live);
      await until('the edit is known', () =>
        JSON.stringify(caches.get('services').get('default', 'demo')?.['spec']).includes('9001'),
      );
      await runtime.refresh(server, secrets());
      expect(JSON.stringify(double.get('services', 'default', 'demo')?.['spec'])).not.toContain('9001');
    });
  });

  describe('of what the cluster changes by itself', () => {
    type Container = Record<string, unknown>;
    const mirrored = (one: Container) => ({ ...one, image: 'mirror.example/coffer:1' });
    const withVariable = (one: Container) => ({ ...one, env: [...(one['env'] as object[]), { name: 'HTTP_PROXY' }] });
    const asUser = (one: Container) => ({ ...one, securityContext: { runAsUser: 5 } });

    /** Changes each container of a pod template or a pod. */
    function changing(change: (container: Container) => Container, resources = ['statefulsets.apps']) {
      double.mutate((resource, object) => {
        if (!resources.includes(resource)) return object;
        const copy = structuredClone(object) as KubeObject & {
          spec: { template?: { spec: object }; containers?: object };
        };
        const spec = (copy.spec.template?.spec ?? copy.spec) as { containers: Container[] };
        spec.containers = spec.containers.map(change);
        return copy as typeof object;
      });
    }

    async function lookTimes(times: number): Promise<void> {
      for (let time = 0; time < times; time++) {
        await until('the status is that of the newest StatefulSet', () => {
          const newest = double.get('statefulsets.apps', 'default', 'demo')?.metadata.resourceVersion;
          return newest === caches.get('statefulSets').get('default', 'demo')?.metadata.resourceVersion;
        });
        await runtime.refresh(server(), secrets());
        const [instance] = (await runtime.observeOne('demo'))?.instances ?? [];
        // The reconciler replaces a pod that is outdated.
        if (restartReasons(instance?.inputs ?? [], server().inputs, server().owner).length > 0) {
          await runtime.replace('demo', 'demo-0');
        }
      }
    }
    const server = exampleServer;

    it.each([
      ['a mirror before the image', mirrored, 'spec.containers.server.image'],
      ['a variable that is added', withVariable, 'spec.containers.server.env.HTTP_PROXY'],
      ['a user', asUser, 'spec.containers.server.securityContext'],
    ])('replaces no pod, and tells it: %s', async (_, change, path) => {
      changing(change);
      await settled(server());
      const before = uid();
      await lookTimes(3);
      expect(uid()).toBe(before);
      const { clusterRules } = (await runtime.observeOne('demo')) ?? {};
      expect(clusterRules).toMatchObject([{ object: 'StatefulSet demo', managers: [] }]);
      expect(clusterRules?.[0]?.paths.join()).toContain(path);
      expect(events).toEqual([]);
    });

    it('writes nothing more once the answer is known', async () => {
      changing(mirrored);
      await settled(server());
      await lookTimes(1);
      const { resourceVersion } = double.get('statefulsets.apps', 'default', 'demo')?.metadata ?? {};
      const writes = double.requests.writes;
      await lookTimes(3);
      expect(double.get('statefulsets.apps', 'default', 'demo')?.metadata.resourceVersion).toBe(resourceVersion);
      expect(double.requests.writes).toBe(writes);
    });

    it('replaces no pod when the rule is gone after a restart of the operator', async () => {
      changing(mirrored);
      await settled(server());
      const before = uid();
      await lookTimes(1);
      runtime.close();
      double.mutate((_, object) => object);
      runtime = open();
      await lookTimes(2);
      expect([uid(), events]).toEqual([before, []]);
      const { template } = statefulSet() as { template: KubeObject };
      expect(image(template)).toBe('coffer:1');
      expect((await runtime.observeOne('demo'))?.clusterRules).toBeUndefined();
      expect(double.get('statefulsets.apps', 'default', 'demo')?.metadata.annotations).not.toHaveProperty([
        'coffer.dev/admitted',
      ]);
    });

    it('tells the rule from the start of the operator on', async () => {
      changing(mirrored);
      await settled(server());
      await lookTimes(1);
      runtime.close();
      runtime = open();
      await lookTimes(1);
      const { clusterRules } = (await runtime.observeOne('demo')) ?? {};
      expect(clusterRules).toMatchObject([{ paths: ['spec.containers.server.image'] }]);
    });

    it('replaces no pod for a rule that answers something else each time', async () => {
      let count = 0;
      changing((one) => ({ ...one, image: `mirror.example/coffer:${count++}` }));
      await settled(server());
      const before = uid();
      await lookTimes(3);
      expect(uid()).toBe(before);
    });

    it('minds no rule for pods alone', async () => {
      changing(mirrored, ['pods']);
      await settled(server());
      const before = uid();
      await lookTimes(2);
      expect(uid()).toBe(before);
      expect((await runtime.observeOne('demo'))?.clusterRules).toBeUndefined();
    });

    it('replaces no pod twice for a controller that changes the template again, and leaves it in the end', async () => {
      await settled(server());
      const seen = new Set([uid()]);
      for (let time = 0; time < 5; time++) {
        const live = structuredClone(await byHand.get(resourceTypes.statefulSet, 'default', 'demo')) as KubeObject;
        const { template } = live['spec'] as { template: { spec: { containers: Container[] } } };
        template.spec.containers = template.spec.containers.map(mirrored);
        const { resourceVersion } = (await byHand.replace(live)).metadata;
        await until('the change is known', () => {
          const known = caches.get('statefulSets').get('default', 'demo');
          const { observedGeneration } = (known?.['status'] ?? {}) as { observedGeneration?: number };
          return (
            Number(known?.metadata.resourceVersion) >= Number(resourceVersion) &&
            observedGeneration === known?.metadata.generation
          );
        });
        await lookTimes(2);
        await until('there is a pod', () => uid() !== undefined);
        seen.add(uid());
      }
      expect(seen.size).toBeLessThanOrEqual(2);
      expect((await runtime.observeOne('demo'))?.clusterRules).toMatchObject([
        { object: 'StatefulSet demo', managers: ['kubectl-edit'] },
      ]);
    });
  });

  it('removes what is not wanted any more', async () => {
    await settled(exampleServer({ replicas: 2 }));
    await runtime.refresh(exampleServer({ replicas: 1 }), secrets());
    expect(double.get('poddisruptionbudgets.policy', 'default', 'demo')).toBeUndefined();
  });

  it('grows the volumes that are there', async () => {
    await settled(exampleServer());
    const [data] = exampleServer().mounts;
    const mounts = [{ ...data, size: '20Gi' } as NonNullable<typeof data>, ...exampleServer().mounts.slice(1)];
    await until('the claim is known', () => caches.get('persistentVolumeClaims').size === 1);
    await runtime.refresh(exampleServer({ mounts }), secrets());
    const claim = double.get('persistentvolumeclaims', 'default', 'data-demo-0');
    expect(claim?.['spec']).toMatchObject({ resources: { requests: { storage: '20Gi' } } });
    if (claim === undefined) throw new Error('there is no claim');
    caches.get('persistentVolumeClaims').wrote({ ...claim, status: { capacity: { storage: '10Gi' } } });
    const volume = { namespace: 'default', claim: 'data-demo-0', has: '10Gi', asked: '20Gi', state: 'growing' };
    expect((await runtime.observeOne('demo'))?.resizing).toEqual([volume]);
  });
});

const toldFiles = (pod: KubeObject | undefined) => pod?.metadata.annotations?.['coffer.dev/files'];
const filesOf = (name: string) => toldFiles(double.get('pods', 'default', name));
const isOfPod = ({ verb, resource }: ApiRequest) => verb === 'patch' && resource === 'pods';

describe('a change of files that reload', () => {
  const renewed = secrets('a', 'renewed');

  it('touches the running pods, so that their kubelets look at once, and restarts none', async () => {
    await settled(exampleServer({ replicas: 2 }));
    await runtime.refresh(exampleServer({ replicas: 2 }), secrets());
    const before = pods();
    const template = double.get('statefulsets.apps', 'default', 'demo')?.['spec'];
    await runtime.refresh(exampleServer({ replicas: 2 }), renewed);
    expect(pods().map((pod) => pod.metadata.uid)).toEqual(before.map((pod) => pod.metadata.uid));
    for (const pod of before) expect(filesOf(pod.metadata.name)).not.toBe(toldFiles(pod));
    expect(double.get('statefulsets.apps', 'default', 'demo')?.['spec']).toEqual(template);
    expect(JSON.stringify(template)).not.toContain('coffer.dev/files');
  });

  it('touches a pod only when the files differ that it mounts', async () => {
    await settled(exampleServer());
    await runtime.refresh(exampleServer(), secrets());
    const before = filesOf('demo-0');
    const mounts = exampleServer().mounts.map((mount) =>
      mount.kind === 'files' && mount.name === 'tls'
        ? { ...mount, files: mount.files.flatMap((file) => [file, { ...file, path: 'more.crt' }]) }
        : mount,
    );
    await runtime.refresh(exampleServer({ mounts }), secrets());
    expect(double.get('secrets', 'default', 'demo-reloading-files')?.['data']).toHaveProperty(['tls.more.crt']);
    expect(filesOf('demo-0')).toBe(before);
  });

  it('leaves a pod alone that is ending', async () => {
    await settled(exampleServer({ replicas: 2 }));
    await runtime.refresh(exampleServer({ replicas: 2 }), secrets());
    const before = filesOf('demo-1');
    double.holdTermination(({ metadata }) => metadata.name === 'demo-1');
    await runtime.replace('demo', 'demo-1');
    await until(
      'its end is known',
      () => caches.get('pods').get('default', 'demo-1')?.metadata.deletionTimestamp !== undefined,
    );
    await runtime.refresh(exampleServer({ replicas: 2 }), renewed);
    expect(filesOf('demo-1')).toBe(before);
    expect(filesOf('demo-0')).not.toBe(before);
  });

  it.each([404, 403])('minds no pod that vanished or may not be changed (%i)', async (status) => {
    await settled(exampleServer());
    double.faults.plan(1, isOfPod, { kind: 'status', status, reason: 'Refused' });
    await runtime.refresh(exampleServer(), renewed);
    expect(filesOf('demo-0')).toBeUndefined();
    await runtime.refresh(exampleServer(), renewed);
    expect(filesOf('demo-0')).toBeDefined();
  });
});

const configuration = (text: string) =>
  exampleServer({
    mounts: exampleServer().mounts.map((mount) =>
      mount.kind === 'files' && mount.name === 'tls'
        ? {
            ...mount,
            files: [...mount.files, { path: 'rules', content: { kind: 'text', text } as const, reloads: true }],
          }
        : mount,
    ),
  });

describe('what is paused', () => {
  const other = exampleServer({ image: 'coffer:2', inputs: input('b'), replicas: 3 });
  const renewed = secrets('other', 'renewed');

  it('has certificates renewed that its pods re-read, and nothing else written', async () => {
    await settled(exampleServer());
    await runtime.refresh(exampleServer(), secrets());
    const [before, set, written] = [filesOf('demo-0'), statefulSet(), double.requests.writes];
    await runtime.renew(other, renewed);
    const data = double.get('secrets', 'default', 'demo-reloading-files')?.['data'];
    expect(data).toEqual({ 'tls.tls.crt': Buffer.from('renewed').toString('base64') });
    expect(filesOf('demo-0')).not.toBe(before);
    expect(statefulSet()).toEqual(set);
    expect(fileSecrets()).toHaveLength(1);
    expect(double.requests.writes - written).toBe(2);
  });

  it('keeps its configuration, though it is re-read: it must come back as it was paused', async () => {
    await settled(configuration('as paused'));
    await runtime.renew(configuration('other'), renewed);
    const data = double.get('secrets', 'default', 'demo-reloading-files')?.['data'];
    expect(data).toEqual({
      'tls.tls.crt': Buffer.from('renewed').toString('base64'),
      'tls.rules': Buffer.from('as paused').toString('base64'),
    });
  });

  it('is not made where nothing runs', async () => {
    await runtime.renew(exampleServer(), secrets());
    expect(double.list('secrets', 'default')).toEqual([]);
  });
});

describe('a change that needs a restart', () => {
  const changed = exampleServer({ image: 'coffer:2', inputs: input('b'), replicas: 2 });

  it('touches no pod until one is replaced, and only that one', async () => {
    await settled(exampleServer({ replicas: 2 }));
    await runtime.apply(changed, secrets('b'));
    expect(pods().map(image)).toEqual(['coffer:1', 'coffer:1']);
    await runtime.replace('demo', 'demo-1');
    await double.until(() => image(pods()[1]) === 'coffer:2', 'the second pod is new');
    expect(image(pods()[0])).toBe('coffer:1');
    const seen = await runtime.observeOne('demo');
    expect(seen?.inputs).toEqual(input('b'));
    expect(seen?.instances[0]?.inputs).toEqual(exampleServer().inputs);
  });

  it('keeps the files of pods that started before, until the last is gone', async () => {
    await settled(exampleServer({ replicas: 2 }));
    await runtime.apply(changed, secrets('b'));
    await runtime.refresh(changed, secrets('b'));
    expect(fileSecrets()).toHaveLength(2);
    for (const pod of ['demo-0', 'demo-1']) {
      await runtime.replace('demo', pod);
      await until(`${pod} is new`, () => image(caches.get('pods').get('default', pod)) === 'coffer:2');
    }
    await until('no Secret of before is left', async () => {
      await runtime.refresh(changed, secrets('b'));
      return fileSecrets().length === 1;
    });
  });

  it('never shows a pod as ready again that was just deleted, however late its cache is', async () => {
    await settled(exampleServer({ replicas: 2 }));
    double.faults.heldWatches = true;
    await runtime.replace('demo', 'demo-0');
    expect((await runtime.observeOne('demo'))?.instances[0]?.state).toEqual({ kind: 'stopping' });
    double.faults.heldWatches = false;
  });
});

describe('a workload whose volumes are others', () => {
  it('gets another StatefulSet while its pods run on', async () => {
    await settled(exampleServer());
    const uid = pods()[0]?.metadata.uid;
    const mounts = [
      ...exampleServer().mounts,
      { kind: 'volume', name: 'more', claim: { kind: 'each', accessMode: 'ReadWriteOnce' } } as const,
    ];
    const other = exampleServer({ mounts, inputs: input('b') });
    const before = double.get('statefulsets.apps', 'default', 'demo')?.metadata.uid;
    await runtime.apply(other, secrets());
    await until('the StatefulSet is gone', async () => (await runtime.observeOne('demo')) === undefined);
    await runtime.apply(other, secrets());
    expect(double.get('statefulsets.apps', 'default', 'demo')?.metadata.uid).not.toBe(before);
    expect(pods()[0]?.metadata.uid).toBe(uid);
  });
});

describe('a hibernated workload', () => {
  it('is stopped', async () => {
    await settled(exampleServer());
    await runtime.refresh(exampleServer({ kubernetes: { ...plainOptions, hibernated: true } }), secrets());
    await until('no instance is left', async () => (await runtime.observeOne('demo'))?.state.kind === 'stopped');
    expect(pods()).toEqual([]);
  });
});

describe('remove', () => {
  it('leaves the volumes', async () => {
    await settled(exampleServer());
    await runtime.remove('demo');
    await double.until(() => pods().length === 0, 'no pod');
    expect(double.list('services', 'default')).toEqual([]);
    expect(double.list('persistentvolumeclaims', 'default')).toHaveLength(1);
  });
});

describe('the health of the store', () => {
  it('is that of the servers, asked by their Service', async () => {
    await settled(exampleServer());
    expect(await runtime.storeHealth('demo')).toMatchObject({ healthy: false });
    expect(asked).toEqual(['https://demo.default.svc:9000/minio/health/cluster']);
  });
});

describe('a server that runs and is not ready', () => {
  it('is asked at the address of its pod what it waits for, and tells it', async () => {
    double.behave(() => ({ kind: 'not-ready' }));
    waitsFor = 'database';
    const told: string[] = [];
    runtime.onChange((name) => told.push(name));
    await runtime.apply(exampleServer(), secrets());
    await until('the answer is known', async () => {
      const state = (await runtime.observeOne('demo'))?.instances[0]?.state;
      return state?.kind === 'starting' && state.waitsFor === 'database';
    });
    expect(asked).toEqual([expect.stringMatching(/^https:\/\/10\.244\.\d+\.\d+:9000\/minio\/health\/ready$/)]);
    expect(told).toContain('demo');
  });
});

describe('listeners', () => {
  it('are told the name of a workload whose pods changed', async () => {
    const told: string[] = [];
    runtime.onChange((name) => told.push(name));
    await settled(exampleServer());
    expect(new Set(told)).toEqual(new Set(['demo']));
  });
  it('are told when no node took a pod for five minutes, though nothing changes then', async () => {
    double.behave(() => ({ kind: 'pending' }));
    const states = new Set<string>();
    runtime.onChange((name) => {
      void runtime.observeOne(name).then((seen) => states.add(seen?.state.kind ?? ''));
    });
    clockAheadMs = 5 * 60_000 - 1_100;
    await runtime.apply(exampleServer(), secrets());
    await until('the workload is told as broken', () => states.has('crash-loop'));
  });
});
