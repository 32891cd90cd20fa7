import { beforeEach, describe, expect, it } from 'vitest';
import type { Declared } from '../../api/object.ts';
import { formerMs } from './accepted-roots.ts';
import type { DeclaredController, DeclaredControllers } from '../managed/controller.ts';
import { made, Namespace, tenant } from '../../../test/support/operator/reconciler-harness.ts';

let space: Namespace;
const signedWith: string[] = [];
const twoServers = {
  replicas: 2,
  storage: {
    records: { postgres: { urlSecretRef: { name: 'client', key: 'secret' } } },
    blobs: { sharedVolume: { claimName: 'blobs' } },
  },
};
const controller: DeclaredController = {
  reconcile: (_: Declared, { access }) => {
    signedWith.push(access.rootPassword);
    return Promise.resolve({ findings: [], afterMs: 9 });
  },
  remove: () => Promise.resolve({ findings: [], afterMs: 9, done: true }),
};
const former = () => space.acceptedRoots.get('demo')?.['former'];
beforeEach(() => {
  space = new Namespace();
  signedWith.length = 0;
});

describe('root credentials that change', () => {
  const bucket = made('Bucket', 'photos', { tenantRef: { name: 'demo' } });
  const two = tenant(twoServers);

  it('reach one server after the other, while the operator signs with what all of them take', async () => {
    await space.started(two, bucket);
    const reconciler = space.open({ controllers: { Bucket: controller } as DeclaredControllers });
    const sign = async () => {
      signedWith.length = 0;
      await reconciler.reconcile({ kind: 'Bucket', name: 'photos' });
      return signedWith.join();
    };
    const look = () => reconciler.reconcile({ kind: 'Tenant', name: 'demo' });
    await look();
    expect([await sign(), former()]).toEqual(['p', '']);

    space.root = { rootUser: 'u', rootPassword: 'next' };
    await look();
    // The first is being replaced: it will take both, and the other takes the former pair alone.
    expect(space.runtime.told).toContain('replace demo-server-1');
    expect([await sign(), former()]).toEqual(['p', 'u\np']);
    space.runtime.become('demo-server', 'ready');
    await look();
    expect(space.runtime.told).toContain('replace demo-server-0');
    expect([await sign(), former()]).toEqual(['p', 'u\np']);

    space.runtime.become('demo-server', 'ready');
    await look();
    expect([await sign(), former()]).toEqual(['next', 'u\np']);
    expect(space.later.get('Tenant/demo')).toBe(formerMs);

    const replaced = space.runtime.told.length;
    space.clock.ms += formerMs;
    await look();
    expect([await sign(), former()]).toEqual(['next', '']);
    expect(space.runtime.told.slice(replaced).filter((told) => told.startsWith('replace'))).toEqual([]);
  });

  it('are not signed with while the tenant is paused', async () => {
    await space.started(two, bucket);
    const reconciler = space.open({ controllers: { Bucket: controller } as DeclaredControllers });
    await reconciler.reconcile({ kind: 'Tenant', name: 'demo' });
    space.objects = [tenant({ ...twoServers, paused: true }), bucket];
    space.root = { rootUser: 'u', rootPassword: 'next' };
    await reconciler.reconcile({ kind: 'Tenant', name: 'demo' });
    await reconciler.reconcile({ kind: 'Bucket', name: 'photos' });
    expect(signedWith).toEqual(['p']);
  });

  it('are forgotten with their tenant', async () => {
    const reconciler = await space.started(two);
    expect(space.acceptedRoots.has('demo')).toBe(true);
    await space.change(reconciler);
    expect(space.acceptedRoots.has('demo')).toBe(false);
  });
});
