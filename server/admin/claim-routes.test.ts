import { describe, expect, it } from 'vitest';
import { adminTest } from './testing.ts';

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
    const refused = await call('root', 'POST', `${path}/attach`, { sealed: { ...apps, policies: ['gone'] } });
    expect(refused).toMatchObject({ status: 404, value: { Code: 'XMinioAdminNoSuchPolicy' } });
  });

  it('are for administrators', async () => {
    const { call, identities } = await adminTest();
    await identities.putUser({ accessKey: 'ann', secretKey: 'ann-secret-key' });
    await identities.attach({ kind: 'user', name: 'ann' }, ['readwrite']);
    const refused = await call('ann', 'POST', `${path}/attach`, { sealed: { ...apps, policies: ['readonly'] } });
    expect(refused.status).toBe(403);
  });
});
