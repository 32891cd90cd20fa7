import { beforeEach, describe, expect, it } from 'vitest';
import { kms, Namespace, provider, tenant } from '../../test/support/operator/reconciler-harness.ts';

let scope: Namespace;
beforeEach(() => {
  scope = new Namespace();
});

/** A tenant whose server can never be changed, and what `attempt` finds after a while. */
async function failing() {
  const objects = [
    tenant({ identityProviders: [{ name: 'a' }], kmsConfigRef: { name: 'keys' } }),
    provider('a'),
    kms(),
  ];
  await scope.started(...objects);
  const space = { free: 500, total: 1_000 };
  const operator = scope.open({ deploymentOf: () => Promise.resolve({ deploymentID: 'first', space }) });
  scope.runtime.failing.add('demo-server');
  const attempt = async () => {
    scope.clock.ms += 15_000;
    await operator.reconcile({ kind: 'KMSConfig', name: 'keys' });
    await operator.reconcile({ kind: 'Tenant', name: 'demo' }).catch(() => undefined);
    return scope.conditions('Tenant/demo');
  };
  return { attempt, space };
}

describe('an error that lasts', () => {
  const refused = new Error('PATCH /apis/apps/v1: quantities must match the regular expression');
  const ref = { kind: 'Tenant', name: 'demo' } as const;

  it('is told by a condition after a while, and is over with the next success', async () => {
    await scope.started(tenant());
    let fails = true;
    const operator = scope.open({
      rootCredentials: () =>
        fails ? Promise.reject(refused) : Promise.resolve({ name: 'root', data: { ...scope.root } }),
    });
    const attempt = async (ms: number) => {
      scope.clock.ms += ms;
      await operator.reconcile(ref).catch(() => undefined);
      return scope.conditions('Tenant/demo');
    };
    expect(await attempt(0)).toContain('Ready=True Ready');
    expect(await attempt(10_000)).toContain('Ready=True Ready');
    expect(await attempt(20_000)).toEqual(['Ready=False ReconcileFailed', 'Reconciling=True ReconcileFailed']);
    expect(scope.statuses.get('Tenant/demo')?.conditions[0]?.message).toContain('quantities must match');
    fails = false;
    expect(await attempt(1_000)).toContain('Ready=True Ready');
    fails = true;
    expect(await attempt(60_000)).toContain('Ready=True Ready');
  });

  it('is still an error for the queue', async () => {
    await scope.started(tenant());
    const operator = scope.open({ rootCredentials: () => Promise.reject(refused) });
    await expect(operator.reconcile(ref)).rejects.toThrow('quantities');
  });

  it.each([
    ['whose spec was changed', () => void scope.generation++],
    [
      'that was deleted and made again',
      () => {
        const again = tenant();
        scope.objects = [{ ...again, metadata: { ...again.metadata, creationTimestamp: '2026-12-01T00:00:00Z' } }];
      },
    ],
  ])('counts anew for a resource %s', async (_title, change) => {
    await scope.started(tenant());
    const operator = scope.open({ rootCredentials: () => Promise.reject(refused) });
    const attempt = async (ms: number) => {
      scope.clock.ms += ms;
      await operator.reconcile(ref).catch(() => undefined);
      return scope.conditions('Tenant/demo');
    };
    await attempt(0);
    await attempt(19_000);
    change();
    expect(await attempt(10_000)).toContain('Ready=True Ready');
    await attempt(10_000);
    expect(await attempt(20_000)).toContain('Ready=False ReconcileFailed');
  });

  describe('of one step', () => {
    it('leaves the conditions of other things', async () => {
      const { attempt } = await failing();
      for (let time = 0; time < 3; time++) await attempt();
      expect(await attempt()).toEqual([
        'Ready=False ReconcileFailed',
        'IdentityReady=True Ready',
        'KMSReady=True Ready',
        'TLSReady=True Ready',
        'Reconciling=True ReconcileFailed',
      ]);
      scope.forget();
      await attempt();
      expect(scope.writes).toEqual([]);
    });

    it('does not keep others from being observed, and claims no other generation for those that are not', async () => {
      const { attempt, space } = await failing();
      scope.generation = 2;
      space.free = 1;
      expect(await attempt()).toContain('VolumeFull=True Full');
      expect(scope.statuses.get('Tenant/demo')?.observedGeneration).toBe(1);
      for (let time = 0; time < 3; time++) await attempt();
      expect(await attempt()).toEqual(expect.arrayContaining(['Ready=False ReconcileFailed', 'VolumeFull=True Full']));
      const generations = scope.statuses
        .get('Tenant/demo')
        ?.conditions.map(({ type, observedGeneration }) => [type, observedGeneration]);
      expect(generations).toEqual(
        expect.arrayContaining([
          ['Ready', 2],
          ['IdentityReady', 1],
          ['VolumeFull', 2],
        ]),
      );
      space.free = 500;
      expect((await attempt())?.join()).not.toContain('VolumeFull');
    });

    it('observes the volumes of what runs', async () => {
      const { attempt } = await failing();
      scope.runtime.resizing.set('demo-server', [
        { claim: 'data-demo-server-0', has: '1Gi', asked: '2Gi', state: 'growing' },
      ]);
      for (let time = 0; time < 3; time++) await attempt();
      expect(await attempt()).toContain('VolumeResizing=True Resizing');
      scope.runtime.resizing.clear();
      expect((await attempt())?.join()).not.toContain('VolumeResizing');
    });
  });
});
