import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tenant } from '../support/operator/manifests.ts';
import type { KubernetesOperator, KubernetesOptions } from '../../operator/runtime/kubernetes/start-kubernetes.ts';
import { KubernetesDouble } from '../support/kubernetes/kubernetes-double.ts';
import { goodProvider, startOperator } from '../support/operator/operator.ts';
import { condition, eventsOf, imageOf, isCurrent, podsOf } from '../support/operator/read-cluster.ts';
import { permitted } from '../support/operator/stage.ts';

// Two operators whose namespaces overlap: one acts, and the resources say so.

const demo = { kind: 'Tenant', name: 'demo', namespace: 'default' } as const;
const quick = { leaseDurationMs: 4_000, renewDeadlineMs: 3_000, retryMs: 100 };

let double: KubernetesDouble;
const operators = new Set<KubernetesOperator>();

beforeEach(async () => {
  double = await KubernetesDouble.start({ permits: permitted, providerCheck: goodProvider });
  double.put(tenant('demo', { image: undefined }));
});
afterEach(async () => {
  await Promise.all([...operators].map((operator) => operator.stop()));
  operators.clear();
  await double.stop();
});

async function start(operatorNamespace: string, options: Partial<KubernetesOptions> = {}): Promise<KubernetesOperator> {
  const operator = await startOperator(double, {
    operatorNamespace,
    identity: 'pod',
    namespaceLeaseTiming: quick,
    askHealth: () => Promise.resolve({ status: 200 }),
    image: `coffer:${operatorNamespace}`,
    ...options,
  });
  operators.add(operator);
  return operator;
}
async function stop(operator: KubernetesOperator): Promise<void> {
  operators.delete(operator);
  await operator.stop();
}
const current = () => double.until(() => isCurrent(double, demo), 'Tenant demo is current');
const told = () => eventsOf(double, demo).filter((event) => event.startsWith('OtherOperator:'));
const isTold = () => double.until(() => told().length > 0, 'an event of the second operator');
const namesSecond = () =>
  double.until(() => condition(double, demo, 'OtherOperator') !== undefined, 'a condition names the second operator');

describe('two operators of one namespace', () => {
  it('leave it to the first: the second replaces no pod', async () => {
    await start('one');
    await current();
    const before = podsOf(double, 'demo-server').map(({ metadata }) => metadata.uid);
    await start('two');
    await isTold();
    await namesSecond();
    await current();
    expect(podsOf(double, 'demo-server').map(({ metadata }) => metadata.uid)).toEqual(before);
    expect(podsOf(double, 'demo-server').map(imageOf)).toEqual(['coffer:one']);
    expect(told().join()).toMatch(/two\/pod does nothing in namespace default.*one\/pod/);
    expect(condition(double, demo, 'OtherOperator')?.message).toMatch(/two\/pod.*one\/pod/);
  });

  it('say no more of the second when it is gone', async () => {
    await start('one');
    await current();
    const second = await start('two');
    await namesSecond();
    await stop(second);
    await double.until(() => condition(double, demo, 'OtherOperator') === undefined, 'the condition is gone', 20_000);
  });

  it('leave it to the second when the first stops', async () => {
    const first = await start('one');
    await current();
    await start('two');
    await isTold();
    await stop(first);
    await double.until(
      () => podsOf(double, 'demo-server').map(imageOf).join() === 'coffer:two',
      'the second operator upgrades the server',
    );
    await current();
    expect(condition(double, demo, 'OtherOperator')).toBeUndefined();
  });

  it('act beside each other where their namespaces differ', async () => {
    double.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'red' } });
    double.put(tenant('demo', {}, 'red'));
    await start('one', { namespaces: ['default'] });
    await start('two', { namespaces: ['red'] });
    await current();
    await double.until(() => isCurrent(double, { ...demo, namespace: 'red' }), 'the other tenant is current');
    expect(condition(double, demo, 'OtherOperator')).toBeUndefined();
  });

  it('write nothing while a Lease cannot be read', async () => {
    double.faults.plan(Infinity, ({ resource }) => resource.startsWith('leases.'), {
      kind: 'status',
      status: 403,
      reason: 'Forbidden',
    });
    await start('one');
    await double.until(
      () => double.requests.of('get', 'leases.coordination.k8s.io') > 1,
      'the Lease was asked for twice',
    );
    expect(double.requests.writes).toBe(0);
  });
});

describe('the replicas of one operator', () => {
  it('wait for no Lease of a namespace: the next leader acts at once', async () => {
    const leaderElection = {
      namespace: 'one',
      timing: { leaseDurationMs: 60_000, renewDeadlineMs: 30_000, retryMs: 50 },
    };
    // It never leads the namespace again: its Lease there is that of a leader that was killed.
    double.put({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'coffer-namespace', namespace: 'default' },
      spec: {
        holderIdentity: 'one/coffer-operator',
        leaseDurationSeconds: 3_600,
        renewTime: '2026-01-01T00:00:00.000000Z',
      },
    });
    double.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'one' } });
    await start('one', { leaderElection });
    await current();
  });
});
