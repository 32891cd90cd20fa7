import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Policy } from '../../api/object.ts';
import type { PolicySpec } from '../../api/policy.ts';
import { createPolicyController } from './policy-controller.ts';
import { TestTenant } from '../../../test/support/operator/test-tenant.ts';

let tenant: TestTenant;
beforeAll(async () => {
  tenant = await TestTenant.start();
});
afterAll(() => tenant.server.stop());

const controller = () => createPolicyController(tenant.options);
const reading = (bucket: string) => ({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: `arn:aws:s3:::${bucket}/*` }],
});
const policy = (name: string, spec: Partial<PolicySpec> = {}): Policy => ({
  kind: 'Policy',
  metadata: { name },
  spec: { tenantRef: { name: 'demo' }, document: reading('photos'), deletionPolicy: 'Delete', ...spec },
});
const kept = (name: string) =>
  tenant
    .admin({ method: 'GET', path: 'v3/info-canned-policy', query: { name } })
    .catch((error: Error) => error.message);

describe('a policy', () => {
  it('is made, and left alone afterwards', async () => {
    const resource = policy('reading', { policyName: 'photos: read' });
    const first = await tenant.pass(controller(), resource);
    expect(first.ready).toBe('True Ready');
    expect(first.changed).toEqual(['there is no such policy']);
    expect(first.status).toEqual({ policyName: 'photos: read' });
    expect(await kept('photos: read')).toEqual(reading('photos'));
    expect((await tenant.pass(controller(), resource)).changed).toEqual([]);
  });

  it('that was changed by hand is repaired', async () => {
    await tenant.pass(controller(), policy('drifting'));
    const body = reading('secrets');
    await tenant.admin({ method: 'PUT', path: 'v3/add-canned-policy', query: { name: 'drifting' }, body });
    const { changed } = await tenant.pass(controller(), policy('drifting'));
    expect(changed).toEqual(['the document of the policy differs']);
    expect(await kept('drifting')).toEqual(reading('photos'));
  });

  it('that the server refuses says why', async () => {
    const document = { Version: '2012-10-17', Statement: [{ Effect: 'Perhaps', Action: 's3:*', Resource: '*' }] };
    const { ready, message, types } = await tenant.pass(controller(), policy('refused', { document }));
    expect(ready).toBe('False InvalidPolicy');
    expect(message).toMatch(/there is no such policy, which cannot be changed: .*Perhaps/);
    expect(types).toContain('Stalled');
  });
});

describe('a Policy that is deleted', () => {
  it('takes its policy with it, and one that is gone', async () => {
    await tenant.pass(controller(), policy('going'));
    expect(await tenant.remove(controller(), policy('going'))).toEqual({ done: true });
    expect(await kept('going')).toMatch(/There is no policy/);
    expect(await tenant.remove(controller(), policy('going'))).toEqual({ done: true });
  });

  it('waits until its policy is attached to nobody', async () => {
    await tenant.pass(controller(), policy('attached'));
    const user = { method: 'PUT', path: 'v3/add-user', query: { accessKey: 'holder' }, sealed: 'body' } as const;
    await tenant.admin({ ...user, body: { secretKey: 'holder-secret', policy: 'attached' } });
    expect(await tenant.remove(controller(), policy('attached'))).toEqual({ done: false, reason: 'PolicyInUse' });
    await tenant.admin({ method: 'DELETE', path: 'v3/remove-user', query: { accessKey: 'holder' } });
    expect(await tenant.remove(controller(), policy('attached'))).toEqual({ done: true });
  });

  it('leaves the built-in policy that it replaced', async () => {
    await tenant.pass(controller(), policy('readonly'));
    expect(await kept('readonly')).toEqual(reading('photos'));
    expect(await tenant.remove(controller(), policy('readonly'))).toEqual({ done: true });
    expect(await kept('readonly')).not.toEqual(reading('photos'));
    expect(await tenant.remove(controller(), policy('readonly'))).toEqual({ done: true });
  });

  it('leaves its policy where it says Retain', async () => {
    const resource = policy('staying', { deletionPolicy: 'Retain' });
    await tenant.pass(controller(), resource);
    expect(await tenant.remove(controller(), resource)).toEqual({ done: true });
    expect(await kept('staying')).toEqual(reading('photos'));
  });
});
