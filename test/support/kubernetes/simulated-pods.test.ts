import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../operator/kube-client/kube-api.ts';
import { isReady } from './selectors.ts';
import type { ApiObject } from './api-object.ts';
import { KubernetesDouble } from './kubernetes-double.ts';
import { wellBehaved } from './pod-status.ts';

let double: KubernetesDouble;

beforeEach(async () => {
  double = await KubernetesDouble.start();
});
afterEach(() => double.stop());

function set(replicas: number, image = 'coffer:1', policy = 'Parallel'): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web' },
    spec: {
      replicas,
      serviceName: 'web',
      podManagementPolicy: policy,
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
    },
  };
}

function pods(): readonly KubeObject[] {
  return double.list('pods', 'default');
}

function statusText(): string {
  return JSON.stringify(pods()[0]?.['status'] ?? {});
}

function images(): string[] {
  return pods().map((pod) => (pod['spec'] as { containers: { image: string }[] }).containers[0]?.image ?? '');
}

function allReady(count: number): () => boolean {
  return () => pods().length === count && pods().every((pod) => isReady(pod as ApiObject));
}

describe('a StatefulSet', () => {
  it('gets its pods, which become ready', async () => {
    double.put(set(3));
    await double.until(allReady(3), 'three pods are ready');
    expect(pods().map(({ metadata }) => metadata.name)).toEqual(['web-0', 'web-1', 'web-2']);
  });

  it('starts one after the other where it is ordered', async () => {
    double.behave((pod) => (pod.metadata.name === 'web-1' ? { kind: 'not-ready' } : { kind: 'ready' }));
    double.put(set(3, 'coffer:1', 'OrderedReady'));
    await double.until(() => pods().length === 2, 'the second pod is there');
    double.behave(wellBehaved);
    await double.until(allReady(3), 'three pods are ready');
  });

  it('leaves pods alone when its template changes, and starts the next one from it', async () => {
    double.put(set(2));
    await double.until(allReady(2), 'two pods are ready');
    double.put(set(2, 'coffer:2'));
    double.delete('pods', 'default', 'web-1');
    await double.until(() => images()[1] === 'coffer:2' && allReady(2)(), 'the second pod is new');
    expect(images()).toEqual(['coffer:1', 'coffer:2']);
  });

  it('reports its pods in its status', async () => {
    double.put(set(2));
    const status = (): unknown => double.get('statefulsets.apps', 'default', 'web')?.['status'];
    await double.until(
      () => (status() as { readyReplicas?: number } | undefined)?.readyReplicas === 2,
      'two are ready',
    );
    expect(status()).toMatchObject({ replicas: 2, updatedReplicas: 2, observedGeneration: 1 });
  });

  it('scales down', async () => {
    double.put(set(3));
    await double.until(allReady(3), 'three pods are ready');
    double.put(set(1));
    await double.until(allReady(1), 'one pod is left');
  });

  it('refuses a change of what must not change', async () => {
    double.put(set(1));
    expect(() => double.put(set(1, 'coffer:1', 'OrderedReady'))).toThrow(/forbidden/);
  });
});

describe('a pod', () => {
  it('waits for an image that cannot be had', async () => {
    double.put(set(1, 'bad:1'));
    await double.until(() => statusText().includes('ImagePullBackOff'), 'the pull fails');
  });

  it('waits for the secret that it mounts', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: {
        containers: [{ name: 'c', image: 'i:1', volumeMounts: [{ name: 's', mountPath: '/s' }] }],
        volumes: [{ name: 's', secret: { secretName: 'late' } }],
      },
    };
    double.put(pod);
    await double.until(() => statusText().includes('not found'), 'the mount fails');
    double.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'late' } });
    await double.until(allReady(1), 'the pod is ready');
  });

  it('stays while its termination is held', async () => {
    double.put(set(1));
    await double.until(allReady(1), 'the pod is ready');
    double.holdTermination(() => true);
    double.delete('pods', 'default', 'web-0');
    const [before] = pods();
    double.holdTermination(() => false);
    await double.until(() => allReady(1)() && pods()[0]?.metadata.uid !== before?.metadata.uid, 'another pod is ready');
    expect(before?.metadata.deletionTimestamp).toBeDefined();
  });

  it('tells the answer of a provider check as its termination message', async () => {
    double.providerCheck = () => ({ exitCode: 1, message: 'wrong issuer' });
    double.put({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'check', labels: { 'app.kubernetes.io/component': 'provider-check' } },
      spec: { restartPolicy: 'Never', containers: [{ name: 'check', image: 'coffer:1' }] },
    });
    await double.until(() => statusText().includes('"phase":"Failed"'), 'the check ends');
    expect(statusText()).toContain('wrong issuer');
  });

  it('is not evicted where the budget allows none', async () => {
    double.put({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    double.put(set(2));
    await double.until(allReady(2), 'two pods are ready');
    double.holdTermination(() => true);
    const evict = async (name: string): Promise<number> => {
      const url = `${double.url}/api/v1/namespaces/default/pods/${name}/eviction`;
      const body = JSON.stringify({
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name, namespace: 'default' },
      });
      return (await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${double.token}` }, body })).status;
    };
    expect([await evict('web-0'), await evict('web-1')]).toEqual([201, 429]);
  });
});
