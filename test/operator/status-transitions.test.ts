import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KubernetesDouble } from '../support/kubernetes/kubernetes-double.ts';
import { identityProvider, secret, sharedStore, tenant, tenantOfSeveral } from '../support/operator/manifests.ts';
import { brokenProvider } from '../support/operator/operator.ts';
import { Stage } from '../support/operator/stage.ts';
import { watchHonesty } from '../support/operator/watch-honesty.ts';

const demo = { kind: 'Tenant', name: 'demo' } as const;
const idp = { kind: 'IdentityProvider', name: 'idp' } as const;

describe('what kstatus, and so Flux and Argo CD, sees', () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await Stage.set([...sharedStore(), secret('client', { secret: 'x' })]);
  });
  afterEach(async () => {
    expect(await stage.strike()).toEqual([]);
  });

  it('of a rollout: in progress until the last pod is as the spec says', async () => {
    await stage.settle(tenantOfSeveral('demo', 2));
    await stage.settle(tenantOfSeveral('demo', 2, { image: 'coffer:2' }));
    expect(stage.honesty.seen.get('Tenant demo')).toEqual(['InProgress', 'Current', 'InProgress', 'Current']);
  });

  it('of a rollout that cannot end: failed until the spec is good', async () => {
    await stage.settle(tenantOfSeveral('demo', 2));
    stage.put(tenantOfSeveral('demo', 2, { image: 'bad:2' }));
    await stage.says(demo, 'Stalled', 'CannotStart');
    expect(stage.honesty.seen.get('Tenant demo')).toEqual(['InProgress', 'Current', 'InProgress', 'Failed']);
    await stage.settle(tenantOfSeveral('demo', 2, { image: 'coffer:2' }));
    expect(stage.honesty.seen.get('Tenant demo')?.slice(3)).toEqual(['Failed', 'InProgress', 'Current']);
  });

  it('of a provider that is refused: failed, on it and on its tenant', async () => {
    stage.double.providerCheck = brokenProvider('DiscoveryFailed', 'no such host');
    stage.put(identityProvider('idp'), tenant('demo', { identityProviders: [{ name: 'idp' }] }));
    await stage.says(idp, 'Stalled', 'DiscoveryFailed');
    await stage.says(demo, 'Stalled', 'DiscoveryFailed');
    expect(stage.honesty.seen.get('IdentityProvider idp')?.at(-1)).toBe('Failed');
  });
});

describe('the watch on statuses', () => {
  it('sees a tenant that is said to be current and has no pod', async () => {
    await using double = await KubernetesDouble.start();
    const { lies, end } = watchHonesty(double);
    double.put(tenant('demo'));
    const conditions = [
      { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ];
    double.putStatus({ ...tenant('demo'), status: { observedGeneration: 1, conditions } });
    end();
    expect(lies).toEqual(['Tenant demo is Current, and 0 of 1 pods are there']);
  });
});
