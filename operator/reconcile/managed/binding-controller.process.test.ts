import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PolicyBinding } from '../../api/object.ts';
import type { PolicyBindingSpec } from '../../api/policy.ts';
import { createBindingController } from './binding-controller.ts';
import { contextOf, TestTenant } from '../../../test/support/operator/test-tenant.ts';

let tenant: TestTenant;
beforeAll(async () => {
  tenant = await TestTenant.start({
    identityProviders: [{ name: 'primary-iam' }],
    kubernetesServiceAccounts: { audience: 'demo' },
  });
  for (const accessKey of ['ann', 'bob', 'gil', 'hal']) {
    const body = { secretKey: 'some-secret' };
    await tenant.admin({ method: 'PUT', path: 'v3/add-user', query: { accessKey }, body, sealed: 'body' });
  }
});
afterAll(() => tenant.server.stop());

const controller = () => createBindingController(tenant.options);
const binding = (name: string, spec: Partial<PolicyBindingSpec>): PolicyBinding => ({
  kind: 'PolicyBinding',
  metadata: { name, namespace: 'apps' },
  spec: {
    tenantRef: { name: 'demo' },
    policies: ['readonly'],
    subjects: [{ user: 'ann' }],
    deletionPolicy: 'Delete',
    ...spec,
  },
});
const change = (what: 'attach' | 'detach', user: string, policies: readonly string[]) =>
  tenant.admin({ method: 'POST', path: `v3/idp/builtin/policy/${what}`, body: { user, policies }, sealed: 'both' });
const policiesOf = async (user: string) =>
  ((await tenant.admin({ method: 'GET', path: 'v3/user-info', query: { accessKey: user } })) as { policyName?: string })
    .policyName;
const claims = async () => {
  const answer = await tenant.admin({ method: 'GET', path: 'coffer/v1/claim-policy', sealed: 'answer' });
  return (answer as { claims: { provider: string; claim: string; value: string; policies: string[] }[] }).claims.map(
    ({ provider, claim, value, policies }) => `${provider} ${claim}=${value}: ${policies.join()}`,
  );
};

describe('a binding', () => {
  it('attaches its policies to each subject that it names, by each way', async () => {
    const body = { group: 'readers', members: ['bob'], isRemove: false };
    await tenant.admin({ method: 'PUT', path: 'v3/update-group-members', body });
    const resource = binding('all', {
      subjects: [
        { user: 'ann' },
        { group: 'readers' },
        { claim: { identityProvider: 'primary-iam', name: 'groups', value: 'team-*' } },
        { serviceAccount: { name: 'backup' } },
        { serviceAccount: { namespace: 'other', name: '*' } },
      ],
    });
    const { ready, changed, status } = await tenant.pass(controller(), resource);
    expect(ready).toBe('True Ready');
    expect(changed).toEqual([
      'readonly: not attached to the user "ann"',
      'readonly: not attached to the group "readers"',
      'readonly: not attached to the claim groups="team-*" of PRIMARY_IAM',
      'readonly: not attached to the claim sub="system:serviceaccount:apps:backup" of KUBERNETES_SERVICE_ACCOUNTS',
      'readonly: not attached to the claim sub="system:serviceaccount:other:*" of KUBERNETES_SERVICE_ACCOUNTS',
    ]);
    expect(await claims()).toEqual([
      'KUBERNETES_SERVICE_ACCOUNTS sub=system:serviceaccount:apps:backup: readonly',
      'KUBERNETES_SERVICE_ACCOUNTS sub=system:serviceaccount:other:*: readonly',
      'PRIMARY_IAM groups=team-*: readonly',
    ]);
    expect((await tenant.pass(controller(), resource, { status: status ?? {} })).changed).toEqual([]);
    expect(await tenant.remove(controller(), resource, { status: status ?? {} })).toEqual({ done: true });
    expect(await claims()).toEqual([]);
    expect(await policiesOf('ann')).toBeUndefined();
  });

  it('is kept in its status before anything is attached', async () => {
    const resource = binding('early', { subjects: [{ user: 'nobody' }] });
    const { ready, remembered, types } = await tenant.pass(controller(), resource);
    expect(remembered).toEqual([{ attached: [{ to: 'user=nobody', policies: ['readonly'] }] }]);
    expect(ready).toBe('False UserNotFound');
    expect(types).toContain('Reconciling');
  });

  it('that was detached by hand is attached again, and what others attached stays', async () => {
    const resource = binding('repair', { subjects: [{ user: 'gil' }] });
    const { status } = await tenant.pass(controller(), resource);
    await change('attach', 'gil', ['diagnostics']);
    await change('detach', 'gil', ['readonly']);
    const { changed } = await tenant.pass(controller(), resource, { status: status ?? {} });
    expect(changed).toEqual(['readonly: not attached to the user "gil"']);
    expect((await policiesOf('gil'))?.split(',').toSorted()).toEqual(['diagnostics', 'readonly']);
    await tenant.remove(controller(), resource, { status: status ?? {} });
    expect(await policiesOf('gil')).toBe('diagnostics');
  });

  it('detaches what it no longer names, but not what another binding gives too', async () => {
    const before = binding('shrinking', {
      subjects: [{ user: 'hal' }],
      policies: ['readonly', 'writeonly', 'diagnostics'],
    });
    const { status } = await tenant.pass(controller(), before);
    const other = binding('other', { subjects: [{ user: 'hal' }], policies: ['writeonly'] });
    const after = binding('shrinking', { subjects: [{ user: 'hal' }], policies: ['readonly'] });
    const { changed } = await tenant.pass(controller(), after, { status: status ?? {}, others: [other] });
    expect(changed).toEqual(['diagnostics: still attached to the user "hal"']);
    expect((await policiesOf('hal'))?.split(',').toSorted()).toEqual(['readonly', 'writeonly']);
  });

  it('of which one part cannot be done has the others, and names what is missing', async () => {
    const resource = binding('partly', { subjects: [{ user: 'nobody' }, { user: 'bob' }] });
    const { ready, message } = await tenant.pass(controller(), resource);
    expect(ready).toBe('False UserNotFound');
    expect(message).toMatch(/There is no user "nobody"/);
    expect(await policiesOf('bob')).toBe('readonly');
    const missing = await tenant.pass(controller(), binding('missing', { policies: ['not-there'] }));
    expect([missing.ready, missing.message]).toEqual([
      'False PolicyNotFound',
      expect.stringMatching(/There is no policy "not-there"/),
    ]);
  });

  it('of a subject that the tenant does not know says so', async () => {
    const claim = { identityProvider: 'company', name: 'groups', value: 'x' };
    const stranger = await tenant.pass(controller(), binding('stranger', { subjects: [{ claim }] }));
    expect(stranger.ready).toBe('False IdentityProviderNotFound');
    const without = { ...tenant.access.tenant, spec: {} } as typeof tenant.access.tenant;
    const resource = binding('pods', { subjects: [{ serviceAccount: { name: 'x' } }] });
    const { conditions } = await controller().reconcile(resource, contextOf({ ...tenant.access, tenant: without }));
    expect(conditions[0]).toMatchObject({ status: 'False', reason: 'ServiceAccountsNotAccepted' });
  });
});
