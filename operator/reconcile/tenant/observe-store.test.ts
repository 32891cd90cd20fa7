import { describe, expect, it } from 'vitest';
import { made, Namespace, tenant } from '../../../test/support/operator/reconciler-harness.ts';
import { ready } from '../conditions.ts';
import type { ManagedControllers } from '../managed/controller.ts';
import type { CofferObject } from '../../api/object.ts';

const bucket = made('Bucket', 'photos', { tenantRef: { name: 'demo' } });

/** A tenant with a bucket, whose server tells what `store` holds. */
async function observed() {
  const space = new Namespace();
  const state = { store: 'first', applied: 0 };
  const controller = {
    reconcile: () => {
      state.applied += 1;
      return Promise.resolve({ conditions: [ready('as it should be')], afterMs: 1_000 });
    },
    remove: () => Promise.resolve({ done: true, conditions: [], afterMs: 0 }),
  };
  const controllers = { Bucket: controller } as unknown as ManagedControllers;
  const reconciler = space.open({ deploymentOf: async () => state.store, controllers });
  const pass = async (...objects: readonly CofferObject[]) => {
    space.objects = objects;
    for (const { kind, metadata } of objects) await reconciler.reconcile({ kind, name: metadata.name });
    await space.settle(reconciler);
  };
  space.objects = [tenant(), bucket];
  await reconciler.start();
  await space.settle(reconciler);
  for (let turn = 0; turn < 3; turn++) await space.allReady(reconciler);
  await pass(tenant(), bucket);
  return { space, state, pass };
}

const accepting = (id: string) => {
  const written = tenant();
  return { ...written, metadata: { ...written.metadata, annotations: { 'coffer.dev/accept-store': id } } };
};

describe('the store of a Tenant', () => {
  it('is the one whose deployment its status names', async () => {
    const { space, state } = await observed();
    expect(space.statuses.get('Tenant/demo')?.deployment).toBe('first');
    expect(space.conditions('Tenant/demo')).toEqual(['Ready=True Ready']);
    expect(state.applied).toBeGreaterThan(0);
  });

  it('that is another one is not ready, keeps the ID of its data, and gets no resource', async () => {
    const { space, state, pass } = await observed();
    state.store = 'empty';
    state.applied = 0;
    await pass(bucket, tenant(), bucket);
    expect(space.conditions('Tenant/demo')).toEqual(['Ready=False StoreReplaced', 'Stalled=True StoreReplaced']);
    expect(space.statuses.get('Tenant/demo')?.deployment).toBe('first');
    expect(state.applied).toBe(0);
    const message = space.statuses.get('Tenant/demo')?.conditions[0]?.message;
    expect(message).toContain('kubectl annotate tenant demo --overwrite coffer.dev/accept-store=empty');
    expect(space.events.at(-1)).toMatchObject({ type: 'Warning', reason: 'StoreReplaced' });
  });

  it('is accepted by its own ID, once: the next one is not', async () => {
    const { space, state, pass } = await observed();
    state.store = 'empty';
    await pass(accepting('other'), bucket);
    expect(space.conditions('Tenant/demo')?.[0]).toBe('Ready=False StoreReplaced');
    await pass(accepting('empty'), bucket);
    expect(space.conditions('Tenant/demo')).toEqual(['Ready=True Ready']);
    expect(space.statuses.get('Tenant/demo')?.deployment).toBe('empty');
    state.store = 'again-empty';
    await pass(accepting('empty'), bucket);
    expect(space.conditions('Tenant/demo')?.[0]).toBe('Ready=False StoreReplaced');
  });

  it('that comes back is ready again', async () => {
    const { space, state, pass } = await observed();
    state.store = 'empty';
    await pass(tenant(), bucket);
    state.store = 'first';
    await pass(tenant(), bucket);
    expect(space.conditions('Tenant/demo')).toEqual(['Ready=True Ready']);
  });
});
