import { beforeEach, describe, expect, it } from 'vitest';
import { adminTest } from '../../test/support/admin/admin.ts';

let test: Awaited<ReturnType<typeof adminTest>>;
const ann = { kind: 'user', name: 'ann' } as const;
const updatedAt = '2026-01-01T00:00:00.000Z';

beforeEach(async () => {
  test = await adminTest();
  for (const accessKey of ['ann', 'bob']) {
    await test.identities.putUser({ accessKey, secretKey: `${accessKey}-password` });
  }
  await test.identities.addMembers('staff', ['ann', 'bob']);
});

const change = (what: 'attach' | 'detach', sealed: unknown, by = 'root') =>
  test.call(by, 'POST', `idp/builtin/policy/${what}`, { sealed });

const entities = async (query: string) =>
  (await test.call('root', 'GET', `idp/builtin/policy-entities?${query}`)).value;

describe('attaching', () => {
  it('adds to what is there, and answers with what it added', async () => {
    expect((await change('attach', { policies: ['readonly'], user: 'ann' })).value).toEqual({
      policiesAttached: ['readonly'],
      updatedAt,
    });
    const more = await change('attach', { policies: ['readonly', 'diagnostics'], user: 'ann' });
    expect(more.value).toMatchObject({ policiesAttached: ['diagnostics'] });
    expect(await change('attach', { policies: ['readonly'], user: 'ann' })).toMatchObject({
      status: 400,
      value: { Code: 'XMinioAdminPolicyChangeAlreadyApplied' },
    });
  });

  it.each(['admin:AttachUserOrGroupPolicy', 'admin:UpdatePolicyAssociation'])(
    'is denied by a Deny of %s',
    async (Action) => {
      const Statement = [
        { Effect: 'Allow', Action: 'admin:*' },
        { Effect: 'Deny', Action },
      ];
      await test.identities.putPolicy('no-attaching', JSON.stringify({ Version: '2012-10-17', Statement }));
      await test.identities.attach(ann, ['no-attaching']);
      const tried = await change('attach', { policies: ['readonly'], user: 'bob' }, 'ann');
      expect(tried).toMatchObject({ status: 403, value: { Code: 'AccessDenied' } });
    },
  );

  it('is undone by detaching', async () => {
    await change('attach', { policies: ['readonly', 'diagnostics'], group: 'staff' });
    const gone = await change('detach', { policies: ['readonly', 'writeonly'], group: 'staff' });
    expect(gone.value).toEqual({ policiesDetached: ['readonly'], updatedAt });
    expect(await test.identities.attached({ kind: 'group', name: 'staff' })).toEqual(['diagnostics']);
    expect(await change('detach', { policies: ['readonly'], group: 'staff' })).toMatchObject({
      value: { Code: 'XMinioAdminPolicyChangeAlreadyApplied' },
    });
  });

  it('is answered to older clients by the status alone', async () => {
    const older = {
      sealed: { policies: ['readonly'], user: 'ann' },
      userAgent: 'MinIO (linux; amd64) madmin-go/2.0.0 mc/RELEASE.2023-04-12T02-21-51Z',
    };
    const attached = await test.call('root', 'POST', 'idp/builtin/policy/attach', older);
    expect([attached.status, attached.bytes.length]).toEqual([201, 0]);
    const detached = await test.call('root', 'POST', 'idp/builtin/policy/detach', older);
    expect([detached.status, detached.bytes.length]).toEqual([204, 0]);
  });

  it.each([
    ['a policy that is none', { policies: ['nix'], user: 'ann' }, 404, 'XMinioAdminNoSuchPolicy'],
    ['a user who is none', { policies: ['readonly'], user: 'nobody' }, 404, 'XMinioAdminNoSuchUser'],
    ['a group that is none', { policies: ['readonly'], group: 'nix' }, 404, 'XMinioAdminNoSuchGroup'],
    ['a user and a group', { policies: ['readonly'], user: 'ann', group: 'staff' }, 400, 'XCofferInvalidRequest'],
    ['neither', { policies: ['readonly'] }, 400, 'XCofferInvalidRequest'],
    ['no policies', { policies: [], user: 'ann' }, 400, 'XMinioAdminConfigBadJSON'],
  ])('is refused for %s', async (_, sealed, status, code) => {
    expect(await change('attach', sealed)).toMatchObject({ status, value: { Code: code } });
  });

  it('of older clients sets exactly what is named', async () => {
    const set = (policies: string) =>
      test.call('root', 'PUT', `set-user-or-group-policy?policyName=${policies}&userOrGroup=ann&isGroup=false`);
    await set('readonly,writeonly');
    expect(await test.identities.attached(ann)).toEqual(['readonly', 'writeonly']);
    await set('diagnostics');
    expect(await test.identities.attached(ann)).toEqual(['diagnostics']);
    await set('');
    expect(await test.identities.attached(ann)).toEqual([]);
    await test.call('root', 'PUT', 'set-user-or-group-policy?policyName=readonly&userOrGroup=staff&isGroup=true');
    expect(await test.identities.attached({ kind: 'group', name: 'staff' })).toEqual(['readonly']);
  });

  // Their requests say nothing of what the client has read: see the decision 0070.
  it.each([
    ['set-user-or-group-policy', 'set-user-or-group-policy?policyName=readonly,diagnostics&userOrGroup=ann', undefined],
    ['add-user with policies', 'add-user?accessKey=ann', { policy: 'readonly,diagnostics' }],
  ])('of older clients overwrites what another session attached meanwhile: %s', async (_, call, sealed) => {
    await test.identities.attach(ann, ['readonly']);
    // One session has read the list. Another one attaches a policy before it writes.
    await change('attach', { policies: ['writeonly'], user: 'ann' });
    expect((await test.call('root', 'PUT', call, sealed === undefined ? {} : { sealed })).status).toBe(200);
    expect(await test.identities.attached(ann)).toEqual(['readonly', 'diagnostics']);
  });

  it('in two sessions at once keeps both changes', async () => {
    await test.identities.attach(ann, ['readonly']);
    const [one, other] = await Promise.all([
      change('attach', { policies: ['writeonly'], user: 'ann' }),
      change('attach', { policies: ['diagnostics'], user: 'ann' }),
    ]);
    expect([one.status, other.status]).toEqual([200, 200]);
    expect((await test.identities.attached(ann)).toSorted()).toEqual(['diagnostics', 'readonly', 'writeonly']);
  });

  it('keeps the policies of a user whose secret key or status is set', async () => {
    await test.identities.attach(ann, ['readonly']);
    for (const sealed of [{ secretKey: 'another-password' }, { status: 'disabled' }, { policy: '' }]) {
      expect((await test.call('root', 'PUT', 'add-user?accessKey=ann', { sealed })).status).toBe(200);
    }
    expect(await test.identities.attached(ann)).toEqual(['readonly']);
  });

  it.each(['admin:AttachUserOrGroupPolicy', 'admin:UpdatePolicyAssociation'])('takes the right %s', async (action) => {
    const sealed = { policies: ['readonly'], user: 'ann' };
    expect((await change('attach', sealed, 'bob')).status).toBe(403);
    const policy = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: [action] }] };
    await test.identities.putPolicy('attaching', JSON.stringify(policy));
    await test.identities.attach({ kind: 'user', name: 'bob' }, ['attaching']);
    expect((await change('attach', sealed, 'bob')).status).toBe(200);
  });
});

describe('who has which policy', () => {
  const timestamp = updatedAt;

  beforeEach(async () => {
    await test.identities.attach(ann, ['readonly']);
    await test.identities.attach({ kind: 'group', name: 'staff' }, ['readonly', 'diagnostics']);
    await test.identities.attach({ kind: 'ldap-user', name: 'uid=x,dc=y' }, ['writeonly']);
  });

  it('is told for all policies', async () => {
    expect(await entities('')).toEqual({
      timestamp,
      policyMappings: [
        { policy: 'diagnostics', users: null, groups: ['staff'] },
        { policy: 'readonly', users: ['ann'], groups: ['staff'] },
      ],
    });
  });

  it('is told for users with their groups, for groups, and for policies by name', async () => {
    const staff = { group: 'staff', policies: ['readonly', 'diagnostics'] };
    expect(await entities('user=ann&user=bob&user=nobody')).toEqual({
      timestamp,
      userMappings: [
        { user: 'ann', policies: ['readonly'], memberOfMappings: [staff] },
        { user: 'bob', policies: [], memberOfMappings: [staff] },
      ],
    });
    expect(await entities('group=staff&group=nix&policy=diagnostics')).toEqual({
      timestamp,
      groupMappings: [staff],
      policyMappings: [{ policy: 'diagnostics', users: null, groups: ['staff'] }],
    });
  });
});

const path = '/minio/admin/coffer/v1/claim-policy';
const apps = { provider: 'CLUSTER', claim: 'sub', value: 'system:serviceaccount:apps:*' };

describe('policies of claims', () => {
  it('are attached, listed and detached', async () => {
    const { call, identities } = await adminTest();
    const attached = await call('root', 'POST', `${path}/attach`, { sealed: { ...apps, policies: ['readonly'] } });
    expect(attached.value).toMatchObject({ policiesAttached: ['readonly'] });
    expect(await identities.claimTargets('CLUSTER', { sub: 'system:serviceaccount:apps:backup' })).toHaveLength(1);
    const listed = await call('root', 'GET', path);
    expect(listed.value).toMatchObject({ claims: [{ ...apps, policies: ['readonly'] }] });
    const detached = await call('root', 'POST', `${path}/detach`, { sealed: { ...apps, policies: ['readonly'] } });
    expect(detached.value).toMatchObject({ policiesDetached: ['readonly'] });
    expect((await call('root', 'GET', path)).value).toEqual({ claims: [] });
  });

  it('must exist', async () => {
    const { call } = await adminTest();
    const rejected = await call('root', 'POST', `${path}/attach`, { sealed: { ...apps, policies: ['gone'] } });
    expect(rejected).toMatchObject({ status: 404, value: { Code: 'XMinioAdminNoSuchPolicy' } });
  });

  it('are for administrators', async () => {
    const { call, identities } = await adminTest();
    await identities.putUser({ accessKey: 'ann', secretKey: 'ann-secret-key' });
    await identities.attach({ kind: 'user', name: 'ann' }, ['readwrite']);
    const rejected = await call('ann', 'POST', `${path}/attach`, { sealed: { ...apps, policies: ['readonly'] } });
    expect(rejected.status).toBe(403);
  });
});
