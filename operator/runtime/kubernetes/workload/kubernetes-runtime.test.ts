import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Cache, KubeObject } from '../../../kube-client/kube-api.ts';
import { KubeClient } from '../../../kube-client/kube-client.ts';
import { resourceTypes } from '../../../kube-client/resource-types.ts';
import { standardCertificateTimes } from '../certificates/certificate-times.ts';
import { KubernetesRuntime } from './kubernetes-runtime.ts';

const start = new Date('2026-11-01T12:00:00Z');
const minute = 60_000;

const statefulSet: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'demo', namespace: 'default', uid: 'one', labels: { 'coffer.dev/workload': 'demo' } },
  spec: { replicas: 2, template: { spec: {} } },
};

/** Returns a pod that no node has taken since this time. */
function unscheduled(name: string, since: Date): KubeObject {
  const condition = { type: 'PodScheduled', status: 'False', lastTransitionTime: since.toISOString() };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: name, labels: { 'coffer.dev/workload': 'demo' } },
    spec: { containers: [] },
    status: { phase: 'Pending', conditions: [condition] },
  };
}

function cacheOf(objects: () => readonly KubeObject[]): Cache {
  return {
    type: resourceTypes.pod,
    get: (_, name) => objects().find(({ metadata }) => metadata.name === name),
    list: objects,
    ofWorkload: objects,
    wrote: () => undefined,
    deleted: () => undefined,
    onChange: () => undefined,
    synced: () => Promise.resolve(),
  };
}

describe('a workload with pods that no node takes', () => {
  let pods: KubeObject[];
  let changed: string[];
  let runtime: KubernetesRuntime;

  beforeEach(() => {
    vi.useFakeTimers({ now: start });
    const none = cacheOf(() => []);
    pods = [];
    changed = [];
    runtime = new KubernetesRuntime({
      api: new KubeClient({
        server: new URL('https://127.0.0.1:1'),
        tls: {},
        authorization: () => Promise.resolve(undefined),
        namespace: undefined,
      }),
      caches: {
        statefulSets: cacheOf(() => [statefulSet]),
        pods: cacheOf(() => pods),
        secrets: none,
        services: none,
        persistentVolumeClaims: none,
        podDisruptionBudgets: none,
        networkPolicies: none,
        ingresses: none,
        serviceAccounts: none,
        failedCreates: () => undefined,
        serviceMonitors: () => undefined,
        certificates: () => undefined,
      },
      namespace: 'default',
      owner: () => {
        throw new Error('this test writes no object');
      },
      images: { default: 'coffer:1' },
      operatorNamespace: undefined,
      fingerprint: (value) => value,
      certificateTimes: standardCertificateTimes,
      now: () => new Date(),
      random: () => 0.5,
      log: { info: () => undefined, warn: () => undefined },
    });
    runtime.onChange((name) => changed.push(name));
  });
  afterEach(() => {
    runtime.close();
    vi.useRealTimers();
  });

  it('is reported at the first deadline', async () => {
    pods = [unscheduled('demo-0', start), unscheduled('demo-1', new Date(start.getTime() - minute))];
    await runtime.observeOne('demo');
    vi.advanceTimersByTime(4 * minute - 1);
    expect(changed).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(changed).toEqual(['demo']);
    vi.advanceTimersByTime(10 * minute);
    expect(changed).toEqual(['demo']);
  });

  it('is reported once, when it was looked at several times', async () => {
    pods = [unscheduled('demo-0', start)];
    await runtime.observeOne('demo');
    await runtime.observeOne('demo');
    vi.advanceTimersByTime(5 * minute);
    expect(changed).toEqual(['demo']);
  });

  it('is not reported where a node took the pod before', async () => {
    pods = [unscheduled('demo-0', start)];
    await runtime.observeOne('demo');
    pods = [];
    await runtime.observeOne('demo');
    vi.advanceTimersByTime(10 * minute);
    expect(changed).toEqual([]);
  });

  it('is not reported for a deadline that has passed', async () => {
    pods = [unscheduled('demo-0', new Date(start.getTime() - 5 * minute))];
    await runtime.observeOne('demo');
    vi.advanceTimersByTime(10 * minute);
    expect(changed).toEqual([]);
  });
});
