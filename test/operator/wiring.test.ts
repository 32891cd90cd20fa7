import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../operator/kube-client/kube-api.ts';
import type { KubernetesOperator, KubernetesOptions } from '../../operator/runtime/kubernetes/start-kubernetes.ts';
import { KubernetesDouble } from '../support/kubernetes/kubernetes-double.ts';
import { tenant } from '../support/operator/manifests.ts';
import { beginOperator, startOperator } from '../support/operator/operator.ts';
import { isCurrent } from '../support/operator/read-cluster.ts';

let double: KubernetesDouble;
const operators: KubernetesOperator[] = [];

beforeEach(async () => {
  double = await KubernetesDouble.start({ namespaces: ['red', 'blue'] });
});
afterEach(async () => {
  await Promise.all(operators.splice(0).map((operator) => operator.stop()));
  await double.stop();
});

async function start(options: Partial<KubernetesOptions> = {}): Promise<KubernetesOperator> {
  const operator = await startOperator(double, options);
  operators.push(operator);
  return operator;
}

const demo = (namespace: string) => ({ kind: 'Tenant', name: 'demo', namespace }) as const;
const settled = (namespace: string) =>
  double.until(() => isCurrent(double, demo(namespace)), `Tenant demo of ${namespace} is current`);
const conditions = (object: KubeObject | undefined) =>
  (
    (object?.['status'] as { readonly conditions?: readonly { readonly type: string; readonly status: string }[] })
      ?.conditions ?? []
  ).map(({ type, status }) => `${type}=${status}`);
const holder = () =>
  (
    double.get('leases.coordination.k8s.io', 'default', 'coffer-operator')?.['spec'] as {
      readonly holderIdentity?: string;
    }
  )?.holderIdentity;

describe('the operator', () => {
  it('says first that it has seen a resource, and nothing about it yet', async () => {
    const seen: (readonly string[])[] = [];
    double.onChange((_before, after) => {
      if (after?.kind === 'Tenant' && after['status'] !== undefined) seen.push(conditions(after));
    });
    await start();
    double.put(tenant('demo', {}, 'red'));
    await settled('red');
    expect(seen[0]).toEqual(['Ready=Unknown', 'Reconciling=True']);
  });

  it('acts on nothing when it is stopped before its lists came', async () => {
    double.put(tenant('demo', {}, 'red'));
    double.faults.plan(Infinity, ({ verb, resource }) => verb === 'list' && resource === 'tenants.coffer.dev', {
      kind: 'status',
      status: 500,
      reason: 'InternalError',
    });
    const operator = await beginOperator(double);
    await operator.stop();
    expect(await operator.acting).toBe(false);
  });

  it('looks after the namespaces that it is given, and no other', async () => {
    double.put(tenant('demo', {}, 'blue'));
    await start({ namespaces: ['red'] });
    double.put(tenant('demo', {}, 'red'));
    await settled('red');
    expect(double.get('tenants.coffer.dev', 'blue', 'demo')?.['status']).toBeUndefined();
    expect(double.list('statefulsets.apps', 'blue')).toEqual([]);
  });

  it.each([
    ['a Service that somebody deletes', 'services', 'demo-server'],
    ['a StatefulSet that somebody deletes', 'statefulsets.apps', 'demo-server'],
    ['root credentials that somebody deletes', 'secrets', 'demo-root-credentials'],
  ])('makes %s again', async (_, resource, name) => {
    double.put(tenant('demo', {}, 'red'));
    await start();
    await settled('red');
    double.delete(resource, 'red', name);
    await double.until(() => double.get(resource, 'red', name) !== undefined, `${name} is back`);
    await settled('red');
  });

  it('goes on with a namespace that went and came back', async () => {
    double.put(tenant('demo', {}, 'red'));
    await start();
    await settled('red');
    double.delete('namespaces', undefined, 'red');
    await double.until(() => double.get('namespaces', undefined, 'red') === undefined, 'the namespace is gone');
    double.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'red' } });
    double.put(tenant('demo', {}, 'red'));
    await settled('red');
  });

  it('takes over when the one that leads stops, and not before', async () => {
    const leaderElection = {
      namespace: 'default',
      timing: { leaseDurationMs: 10_000, renewDeadlineMs: 5_000, retryMs: 50 },
    };
    const first = await start({ leaderElection, identity: 'first' });
    const second = startOperator(double, { leaderElection, identity: 'second' });
    double.put(tenant('demo', {}, 'red'));
    await settled('red');
    expect(holder()).toBe('first');
    await first.stop();
    operators.splice(operators.indexOf(first), 1);
    operators.push(await second);
    expect(holder()).toBe('second');
    double.put(tenant('demo', { image: 'coffer:2' }, 'red'));
    await settled('red');
  });

  it('leaves the Lease to the next when it stops', async () => {
    const operator = await start({ leaderElection: { namespace: 'default' }, identity: 'only' });
    expect(holder()).toBe('only');
    operators.splice(0);
    await operator.stop();
    expect(holder()).toBe('');
  });
});
