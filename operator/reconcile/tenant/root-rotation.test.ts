import { beforeEach, describe, expect, it } from 'vitest';
import type { ManagedResource } from '../../api/object.ts';
import { formerMs } from './accepted-roots.ts';
import type { ManagedController, ManagedControllers } from '../managed/controller.ts';
import { made, Namespace, tenant } from '../../../test/support/operator/reconciler-harness.ts';

let scope: Namespace;
const signedWith: string[] = [];
const twoServers = {
  replicas: 2,
  storage: {
    records: { postgres: { urlSecretRef: { name: 'database', key: 'url' } } },
    blobs: { sharedVolume: { claimName: 'blobs' } },
  },
};
const controller: ManagedController = {
  reconcile: (_: ManagedResource, { access }) => {
    signedWith.push(access.rootPassword);
    return Promise.resolve({ conditions: [], afterMs: 9 });
  },
  remove: () => Promise.resolve({ conditions: [], afterMs: 9, done: true }),
};
const former = () => scope.acceptedRoots.get('demo')?.['former'];
beforeEach(() => {
  scope = new Namespace();
  signedWith.length = 0;
});

describe('root credentials that change', () => {
  const bucket = made('Bucket', 'photos', { tenantRef: { name: 'demo' } });
  const two = tenant(twoServers);

  it('reach one server after the other, while the operator signs with what all of them take', async () => {
    await scope.started(two, bucket);
    const reconciler = scope.open({ controllers: { Bucket: controller } as ManagedControllers });
    const sign = async () => {
      signedWith.length = 0;
      await reconciler.reconcile({ kind: 'Bucket', name: 'photos' });
      return signedWith.join();
    };
    const look = () => reconciler.reconcile({ kind: 'Tenant', name: 'demo' });
    await look();
    expect([await sign(), former()]).toEqual(['root-password', '']);

    scope.root = { rootUser: 'admin', rootPassword: 'next-password' };
    await look();
    // The first is being replaced: it will take both, and the other takes the former pair alone.
    expect(scope.runtime.told).toContain('replace demo-server-1');
    expect([await sign(), former()]).toEqual(['root-password', 'admin\nroot-password']);
    scope.runtime.become('demo-server', 'ready');
    await look();
    expect(scope.runtime.told).toContain('replace demo-server-0');
    expect([await sign(), former()]).toEqual(['root-password', 'admin\nroot-password']);

    scope.runtime.become('demo-server', 'ready');
    await look();
    expect([await sign(), former()]).toEqual(['next-password', 'admin\nroot-password']);
    expect(scope.later.get('Tenant/demo')).toBe(formerMs);

    const replaced = scope.runtime.told.length;
    scope.clock.ms += formerMs;
    await look();
    expect([await sign(), former()]).toEqual(['next-password', '']);
    expect(scope.runtime.told.slice(replaced).filter((told) => told.startsWith('replace'))).toEqual([]);
  });

  it('are not signed with while the tenant is paused', async () => {
    await scope.started(two, bucket);
    const reconciler = scope.open({ controllers: { Bucket: controller } as ManagedControllers });
    await reconciler.reconcile({ kind: 'Tenant', name: 'demo' });
    scope.objects = [tenant({ ...twoServers, paused: true }), bucket];
    scope.root = { rootUser: 'admin', rootPassword: 'next-password' };
    await reconciler.reconcile({ kind: 'Tenant', name: 'demo' });
    await reconciler.reconcile({ kind: 'Bucket', name: 'photos' });
    expect(signedWith).toEqual(['root-password']);
  });

  it('are forgotten with their tenant', async () => {
    const reconciler = await scope.started(two);
    expect(scope.acceptedRoots.has('demo')).toBe(true);
    await scope.change(reconciler);
    expect(scope.acceptedRoots.has('demo')).toBe(false);
  });
});
