import { beforeEach, describe, expect, it } from 'vitest';
import type { Bucket, User } from '../../api/object.ts';
import type { ManagedController, ManagedControllers } from './controller.ts';
import { made, Namespace, tenant } from '../../../test/support/operator/reconciler-harness.ts';

let scope: Namespace;
beforeEach(() => {
  scope = new Namespace();
});

describe('a Bucket', () => {
  const bucket = made('Bucket', 'photos', { tenantRef: { name: 'demo' }, deletionPolicy: 'Delete' });
  const calls: string[] = [];
  const buckets: ManagedController<Bucket> = {
    reconcile: (_, { access: { address, rootUser } }) => {
      calls.push(`reconcile at ${address} as ${rootUser}`);
      return Promise.resolve({
        conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', message: '' }],
        afterMs: 9,
        status: { bucketName: 'photos' },
      });
    },
    remove: (_, context) => {
      calls.push(`remove ${context === undefined ? 'without its tenant' : 'from its tenant'}`);
      return Promise.resolve({ conditions: [], afterMs: 9, done: true });
    },
  };
  const finalizer = {
    hold: () => Promise.resolve(void calls.push('hold')),
    release: () => Promise.resolve(void calls.push('release')),
  };
  const pass = () =>
    scope
      .open({ controllers: { Bucket: buckets } as ManagedControllers, finalizer })
      .reconcile({ kind: 'Bucket', name: 'photos' });
  beforeEach(() => {
    calls.length = 0;
  });

  it('is brought in line by its controller, and looked at again for drift', async () => {
    await scope.started(tenant(), bucket);
    await pass();
    expect(calls).toEqual(['hold', 'reconcile at demo-server:9000 as admin']);
    expect(scope.conditions('Bucket/photos')).toEqual(['Ready=True Ready']);
    expect(scope.later.get('Bucket/photos')).toBe(9);
    expect(scope.statuses.get('Bucket/photos')).toMatchObject({ bucketName: 'photos' });
  });
  it('waits for its tenant', async () => {
    await scope.started(tenant(), bucket);
    scope.runtime.become('demo-server', { kind: 'starting' });
    await pass();
    expect(calls).toEqual(['hold']);
    expect(scope.conditions('Bucket/photos')).toContain('Reconciling=True TenantNotReady');
  });
  it('is refused where another one describes its bucket already', async () => {
    const other = made('Bucket', 'images', { tenantRef: { name: 'demo' }, bucketName: 'photos' });
    await scope.started(tenant(), bucket, other);
    await pass();
    expect(calls).toEqual(['release']);
    expect(scope.conditions('Bucket/photos')).toContain('Ready=False BucketTaken');
    calls.length = 0;
    scope.deleting.add('Bucket/photos');
    await pass();
    expect(calls).toEqual(['release']);
  });
  it('names a tenant that does not exist', async () => {
    scope.objects = [bucket];
    await pass();
    expect(scope.conditions('Bucket/photos')).toContain('Ready=False TenantNotFound');
  });
  it('that is being deleted is undone, and let go', async () => {
    await scope.started(tenant(), bucket);
    scope.deleting.add('Bucket/photos');
    await pass();
    expect(calls).toEqual(['remove from its tenant', 'release']);
  });
  it('that is being deleted with its tenant is let go: a namespace must end', async () => {
    await scope.started(tenant(), bucket);
    scope.deleting.add('Bucket/photos').add('Tenant/demo');
    scope.runtime.become('demo-server', { kind: 'stopping' });
    await pass();
    expect(calls).toEqual(['remove without its tenant', 'release']);
  });
  it('that is being deleted with its tenant asks for no certificate, which nothing may make any more', async () => {
    await scope.started(tenant({ tls: { operatorMade: true } }), bucket);
    scope.deleting.add('Bucket/photos').add('Tenant/demo');
    await pass();
    expect(scope.runtime.asked).toEqual([]);
    expect(calls).toEqual(['remove without its tenant', 'release']);
  });
  it('that is being deleted with a spec that cannot be read waits while there is a tenant', async () => {
    await scope.started(tenant());
    scope.deleting.add('Bucket/photos');
    scope.invalid.set('Bucket/photos', 'spec.tenantRef: missing');
    await pass();
    expect(calls).toEqual([]);
    expect(scope.conditions('Bucket/photos')).toContain('Stalled=True InvalidSpec');
    scope.deleting.add('Tenant/demo');
    await pass();
    expect(calls).toEqual(['release']);
  });
  it('that is being deleted while its tenant is down waits for it', async () => {
    await scope.started(tenant(), bucket);
    scope.deleting.add('Bucket/photos');
    scope.runtime.become('demo-server', { kind: 'starting' });
    await pass();
    expect(calls).toEqual([]);
    expect(scope.later.get('Bucket/photos')).toBe(30_000);
    expect(scope.conditions('Bucket/photos')).toEqual([
      'Ready=False TenantNotReady',
      'Reconciling=True TenantNotReady',
    ]);
    expect(scope.statuses.get('Bucket/photos')?.conditions[0]?.message).toContain('"deletionPolicy":"Retain"');
  });
  it('is not Ready while its tenant sleeps', async () => {
    const operator = scope.open({ controllers: { Bucket: buckets } as ManagedControllers, finalizer });
    scope.objects = [tenant(), bucket];
    await operator.start();
    await scope.settle(operator);
    await scope.allReady(operator);
    await operator.reconcile({ kind: 'Bucket', name: 'photos' });
    expect(scope.conditions('Bucket/photos')).toEqual(['Ready=True Ready']);
    await scope.change(operator, tenant({ hibernated: true }), bucket);
    scope.runtime.become('demo-server', { kind: 'stopping' });
    await scope.settle(operator);
    expect(scope.conditions('Bucket/photos')).toContain('Ready=False TenantNotReady');
  });
});

/** Asks for the keys of the user. */
const reconcileUser = async ({ credentials }: Parameters<ManagedController<User>['reconcile']>[1]) => {
  await credentials();
  return { conditions: [], afterMs: 9 };
};

describe('a User', () => {
  const users: ManagedController<User> = {
    reconcile: (_, context) => reconcileUser(context),
    remove: () => Promise.resolve({ conditions: [], afterMs: 9, done: true }),
  };

  it.each([
    ['whose Secret would be that of the root user', 'demo-root', {}],
    ['that names the Secret of the root user', 'ann', { credentialsSecret: { name: 'demo-root-credentials' } }],
  ])('%s is refused, and is told which', async (_, name, spec) => {
    await scope.started(tenant(), made('User', name, { tenantRef: { name: 'demo' }, ...spec }));
    await scope.open({ controllers: { User: users } as ManagedControllers }).reconcile({ kind: 'User', name });
    expect(scope.conditions(`User/${name}`)).toContain('Stalled=True Conflict');
    expect(scope.statuses.get(`User/${name}`)?.conditions[0]?.message).toContain('root credentials of Tenant demo');
  });
});
