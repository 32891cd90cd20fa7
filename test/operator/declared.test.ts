import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../operator/kube-client/kube-api.ts';
import { secret, sharedStore, tenant, tenantOfSeveral, type Manifest } from '../support/operator/manifests.ts';
import { condition, podsOf } from '../support/operator/read-cluster.ts';
import { Stage } from '../support/operator/stage.ts';

// What is in servers, as far as it is in Kubernetes: Secrets, finalizers, conditions. Servers do not answer here.

const demo = { kind: 'Tenant', name: 'demo' } as const;
const ann = { kind: 'User', name: 'ann' } as const;

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.set(sharedStore());
});
afterEach(async () => {
  expect(await stage.strike()).toEqual([]);
});

const user = (name: string, spec: object = {}): Manifest => ({
  apiVersion: 'coffer.dev/v1alpha1',
  kind: 'User',
  metadata: { name, namespace: 'default' },
  spec: { tenantRef: { name: 'demo' }, ...spec },
});
const live = (plural: string, name: string): KubeObject | undefined => stage.double.get(plural, 'default', name);
const valuesOf = (name: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries((live('secrets', name)?.['data'] ?? {}) as Readonly<Record<string, string>>).map(([key, value]) => [
      key,
      Buffer.from(value, 'base64').toString(),
    ]),
  );

describe('a User', () => {
  it('has keys in a Secret that goes with it, and another one when that is deleted', async () => {
    await stage.settle(tenant('demo'));
    stage.put(user('ann'));
    await stage.until(() => live('secrets', 'ann-credentials') !== undefined, 'the Secret of ann');
    const made = live('secrets', 'ann-credentials');
    // A backup restores it before the user, whose UID is another one then.
    expect(made?.metadata.ownerReferences).toBeUndefined();
    const first = valuesOf('ann-credentials');
    expect(first).toMatchObject({ accessKey: 'ann', AWS_ACCESS_KEY_ID: 'ann' });
    expect(first['secretKey']).toMatch(/^[A-Za-z0-9]{40}$/);
    expect(first['AWS_SECRET_ACCESS_KEY']).toBe(first['secretKey']);
    stage.double.delete('secrets', 'default', 'ann-credentials');
    await stage.until(() => live('secrets', 'ann-credentials') !== undefined, 'another Secret of ann');
    expect(valuesOf('ann-credentials')['secretKey']).not.toBe(first['secretKey']);
  });

  it('keeps the Secret where it keeps the user, and has a finalizer where it does not', async () => {
    await stage.settle(tenant('demo'));
    stage.put(user('ann'), user('bob', { deletionPolicy: 'Retain' }));
    await stage.until(() => live('secrets', 'bob-credentials') !== undefined, 'the Secret of bob');
    expect(live('secrets', 'bob-credentials')?.metadata.ownerReferences).toBeUndefined();
    const finalizers = (name: string) => live('users.coffer.dev', name)?.metadata.finalizers ?? [];
    await stage.until(() => finalizers('ann').includes('coffer.dev/user'), 'the finalizer of ann');
    expect(finalizers('bob')).toEqual([]);
  });

  it('loses the owner reference that an earlier release gave its Secret, and the Secret goes with the user', async () => {
    await stage.settle(tenant('demo'));
    stage.put(user('ann'));
    await stage.until(() => live('secrets', 'ann-credentials') !== undefined, 'the Secret of ann');
    const made = live('secrets', 'ann-credentials');
    const uid = live('users.coffer.dev', 'ann')?.metadata.uid;
    const ownerReferences = [{ apiVersion: 'coffer.dev/v1alpha1', kind: 'User', name: 'ann', uid }];
    const metadata = { name: 'ann-credentials', namespace: 'default', ownerReferences };
    stage.put({ apiVersion: 'v1', kind: 'Secret', metadata });
    stage.put(user('ann', { disabled: true }));
    await stage.until(
      () => (live('secrets', 'ann-credentials')?.metadata.ownerReferences ?? []).length === 0,
      'the Secret without an owner',
    );
    expect(valuesOf('ann-credentials')).toEqual(
      Object.fromEntries(
        Object.entries(made?.['data'] as Readonly<Record<string, string>>).map(([name, value]) => [
          name,
          Buffer.from(value, 'base64').toString(),
        ]),
      ),
    );
    stage.double.delete('tenants.coffer.dev', 'default', 'demo');
    stage.double.delete('users.coffer.dev', 'default', 'ann');
    await stage.until(() => live('users.coffer.dev', 'ann') === undefined, 'ann to be gone');
    expect(live('secrets', 'ann-credentials')).toBeUndefined();
  });

  it('waits for its tenant, and goes without one', async () => {
    stage.put(user('ann'));
    await stage.says(ann, 'Ready', 'TenantNotFound', 'False');
    expect(condition(stage.double, ann, 'Ready')?.message).toBe('Tenant demo does not exist');
    await stage.settle(tenant('demo'));
    await stage.until(
      () => live('users.coffer.dev', 'ann')?.metadata.finalizers?.includes('coffer.dev/user') === true,
      'the finalizer of ann',
    );
    stage.double.delete('tenants.coffer.dev', 'default', 'demo');
    stage.double.delete('users.coffer.dev', 'default', 'ann');
    await stage.until(() => live('users.coffer.dev', 'ann') === undefined, 'ann to be gone');
  });

  it('says what a Secret of another owner lacks', async () => {
    await stage.settle(tenant('demo'));
    stage.put(secret('ann-credentials', { some: 'value' }), user('ann'));
    await stage.says(ann, 'Ready', 'Conflict', 'False');
    expect(condition(stage.double, ann, 'Ready')?.message).toMatch(/^Secret ann-credentials has no key secretKey/);
  });
});

describe('root credentials', () => {
  it('that change replace each server once, and both are kept while some have the former ones alone', async () => {
    await stage.settle(tenantOfSeveral('demo', 2));
    const former = valuesOf('demo-root-credentials');
    expect(valuesOf('demo-root-accepted')).toEqual({ ...former, former: '', formerUntil: '' });
    const before = podsOf(stage.double, 'demo-server').map(({ metadata }) => metadata.uid);
    const file = () => valuesOf('demo-server-reloading-files')['root.former'];
    expect(file()).toBe('');

    const next = { rootUser: 'admin', rootPassword: 'another password' };
    stage.put(secret('demo-root-credentials', next));
    const both = `${former['rootUser'] ?? ''}\n${former['rootPassword'] ?? ''}`;
    await stage.until(() => file() === both, 'the servers to be told the former credentials');
    await stage.until(
      () => valuesOf('demo-root-accepted')['rootPassword'] === next.rootPassword,
      'every server to have the new ones',
    );
    const [told, until] = [file(), Date.parse(valuesOf('demo-root-accepted')['formerUntil'] ?? '')];
    await stage.current(demo);
    const after = podsOf(stage.double, 'demo-server').map(({ metadata }) => metadata.uid);
    expect(after.filter((uid) => before.includes(uid))).toEqual([]);
    // They end a minute later, by a file that is read again.
    expect(told).toBe(both);
    expect(until).toBeGreaterThan(0);
  });

  it('cannot be kept where another owner has the name, which the tenant says', async () => {
    stage.put(secret('demo-root-accepted', { some: 'value' }), tenant('demo'));
    await stage.says(demo, 'Ready', 'Conflict', 'False');
    expect(condition(stage.double, demo, 'Ready')?.message).toMatch(/^Secret demo-root-accepted was not made by/);
  });
});
