import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { identityProvider, keyService, secret, tenant } from '../support/operator/manifests.ts';
import { condition, type Resource } from '../support/operator/read-cluster.ts';
import { Stage } from '../support/operator/stage.ts';

const demo = { kind: 'Tenant', name: 'demo' } as const;
const staff = { kind: 'IdentityProvider', name: 'staff' } as const;
const keys = (keyPrefix: string) => ({
  kmsConfigRef: { name: 'keys', keyPrefix, defaultKey: `${keyPrefix}main` },
});
const foreign = { some: 'value' };

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.set([secret('client', { secret: 'value' })], { namespaces: ['other'] });
});
afterEach(async () => {
  expect(await stage.strike()).toEqual([]);
});

/** The message of Ready, which is False for this reason. */
async function rejected(resource: Resource, reason = 'Conflict'): Promise<string> {
  await stage.says(resource, 'Ready', reason, 'False');
  return condition(stage.double, resource, 'Ready')?.message ?? '';
}

describe('a Secret of another owner that has the name which ours needs', () => {
  it('is said where a certificate would be', async () => {
    stage.put(secret('demo-server-tls-certificate', foreign), tenant('demo', { tls: { operatorMade: true } }));
    expect(await rejected(demo)).toMatch(
      /^Secret demo-server-tls-certificate was not made by the operator, and is not taken over: give one of the two another name$/,
    );
    expect(condition(stage.double, demo, 'Stalled')?.reason).toBe('Conflict');
  });

  it('is said where the accepted version of a provider would be, of it and of its tenants', async () => {
    stage.put(secret('staff-accepted', foreign), identityProvider('staff'));
    stage.put(tenant('demo', { identityProviders: [{ name: 'staff' }] }));
    expect(await rejected(staff)).toMatch(/^Secret staff-accepted was not made by the operator.*delete/);
    expect(await rejected(demo)).toContain('staff-accepted');
    expect(condition(stage.double, demo, 'IdentityReady')?.status).toBe('False');
  });

  it('is used where root credentials would be, and what it lacks is said', async () => {
    stage.put(secret('demo-root-credentials', foreign), tenant('demo'));
    await stage.until(() => condition(stage.double, demo, 'Stalled') !== undefined, 'Tenant demo is stalled');
    const { reason, message } = condition(stage.double, demo, 'Ready') ?? {};
    expect(reason).not.toBe('Conflict');
    expect(message).toContain('demo-root-credentials');
  });

  it('keeps no other tenant from its keys', async () => {
    stage.put(secret('demo-key-service-client-certificate', foreign), keyService('keys'));
    stage.put(tenant('demo', keys('demo-')));
    await stage.settle(tenant('other', keys('other-')));
    expect(await rejected(demo)).toContain('demo-key-service-client-certificate');
  });

  it('takes nothing from what runs already', async () => {
    await stage.settle(tenant('demo'));
    stage.put(secret('demo-server-tls-certificate', foreign), tenant('demo', { tls: { operatorMade: true } }));
    await rejected(demo);
    const status = stage.double.get('tenants.coffer.dev', 'default', 'demo')?.['status'];
    expect(status).toMatchObject({ servers: '1/1', health: 'Healthy' });
  });
});

describe('a Secret of another owner in place of the key of fingerprints', () => {
  it('is said of every resource of the namespace', async () => {
    stage.put(secret('coffer-fingerprint-key', foreign, 'other'));
    stage.put(tenant('demo', {}, 'other'), identityProvider('staff', {}, 'other'));
    for (const resource of [demo, staff]) {
      expect(await rejected({ ...resource, namespace: 'other' })).toMatch(
        /^Secret coffer-fingerprint-key holds no key/,
      );
    }
  });
});
