import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccessKeySpec } from '../../api/user.ts';
import type { AccessKey } from '../../api/object.ts';
import { createAccessKeyController } from './access-key-controller.ts';
import { keysWork } from './credentials.ts';
import { TestTenant } from '../../../test/support/operator/test-tenant.ts';

let tenant: TestTenant;
beforeAll(async () => {
  tenant = await TestTenant.start();
  const query = { accessKey: 'owner' };
  await tenant.admin({
    method: 'PUT',
    path: 'v3/add-user',
    query,
    body: { secretKey: 'owner-secret' },
    sealed: 'body',
  });
});
afterAll(() => tenant.server.stop());

const controller = () => createAccessKeyController(tenant.options);
const document = (action: string) => ({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: action, Resource: 'arn:aws:s3:::photos/*' }],
});
const key = (name: string, spec: Partial<AccessKeySpec> = {}): AccessKey => ({
  kind: 'AccessKey',
  metadata: { name },
  spec: { tenantRef: { name: 'demo' }, user: 'owner', disabled: false, deletionPolicy: 'Delete', ...spec },
});
const works = (accessKey: string, secretKey: string) =>
  keysWork(
    { address: tenant.access.address, tls: false, accessKey, secretKey },
    { accessKey, secretKey },
    () => new Date(),
  );
const info = (accessKey: string) =>
  tenant
    .admin({ method: 'GET', path: 'v3/info-service-account', query: { accessKey }, sealed: 'answer' })
    .catch((error: Error) => error.message);

describe('an access key', () => {
  const whole = {
    policy: document('s3:GetObject'),
    description: 'nightly',
    expiration: '2099-01-31T00:00:00Z',
  } as const;

  it('is made for its owner with all that is said of it, and left alone afterwards', async () => {
    const first = await tenant.pass(controller(), key('backup', whole), { secretKey: 'backup-secret' });
    expect([first.ready, first.message]).toEqual(['True Ready', expect.stringContaining('"backup"')]);
    expect(first.changed).toEqual(['there is no such access key']);
    expect(first.status).toEqual({
      accessKey: 'backup',
      credentialsSecret: 'backup-credentials',
      credentials: expect.any(String),
    });
    expect(await info('backup')).toMatchObject({
      parentUser: 'owner',
      accountStatus: 'on',
      impliedPolicy: false,
      description: 'nightly',
      expiration: '2099-01-31T00:00:00Z',
    });
    expect(await works('backup', 'backup-secret')).toBe(true);
    expect((await tenant.pass(controller(), key('backup', whole), { secretKey: 'backup-secret' })).changed).toEqual([]);
  });

  it('that is changed by the resource or by hand is what the resource says', async () => {
    await tenant.pass(controller(), key('changing', whole), { secretKey: 'changing-secret' });
    const next = key('changing', { policy: document('s3:PutObject'), description: 'weekly' });
    const { changed } = await tenant.pass(controller(), next, { secretKey: 'rotated-secret' });
    expect(changed).toEqual([
      'another policy',
      'the expiration differs',
      'the description differs',
      'the secret key is not that of the Secret',
    ]);
    expect(await works('changing', 'rotated-secret')).toBe(true);
    expect((await tenant.pass(controller(), next, { secretKey: 'rotated-secret' })).changed).toEqual([]);
    const open = await tenant.pass(controller(), key('changing'), { secretKey: 'rotated-secret' });
    expect(open.changed).toEqual(['there is a policy and should be none']);
    expect(await info('changing')).toMatchObject({ impliedPolicy: true });
    expect((await tenant.pass(controller(), key('changing'), { secretKey: 'rotated-secret' })).changed).toEqual([]);
  });

  it('that is disabled rests, whether it was there before or not', async () => {
    await tenant.pass(controller(), key('resting', { disabled: true }), { secretKey: 'resting-secret' });
    expect(await works('resting', 'resting-secret')).toBe(false);
    await tenant.pass(controller(), key('resting'), { secretKey: 'newer-secret' });
    expect(await works('resting', 'newer-secret')).toBe(true);
    await tenant.pass(controller(), key('resting', { disabled: true }), { secretKey: 'newer-secret' });
    expect(await works('resting', 'newer-secret')).toBe(false);
  });

  it('that a backup gave back without its status keeps the secret key that the tenant knows', async () => {
    await tenant.pass(controller(), key('restored'), { secretKey: 'key-of-applications' });
    const { ready, changed } = await tenant.pass(controller(), key('restored'), { secretKey: 'older-key', status: {} });
    expect([ready, changed]).toEqual(['False CredentialsDiffer', []]);
    expect(await works('restored', 'key-of-applications')).toBe(true);
  });

  it('waits for its owner', async () => {
    const { ready, types } = await tenant.pass(controller(), key('orphan', { user: 'nobody' }));
    expect(ready).toBe('False UserNotFound');
    expect(types).toContain('Reconciling');
  });

  it('of another owner is not taken over', async () => {
    await tenant.pass(controller(), key('theirs'));
    const { ready, message } = await tenant.pass(controller(), key('theirs', { user: 'other' }));
    expect(ready).toBe('False AccessKeyTaken');
    expect(message).toMatch(/belongs to "owner" and should be of "other"/);
  });

  it('of the root user is narrowed by its policy', async () => {
    const { user: _, ...spec } = key('narrow', { policy: document('s3:GetObject') }).spec;
    const resource: AccessKey = { kind: 'AccessKey', metadata: { name: 'narrow' }, spec };
    expect((await tenant.pass(controller(), resource)).ready).toBe('True Ready');
    expect(await info('narrow')).toMatchObject({ parentUser: tenant.access.rootUser, impliedPolicy: false });
    expect((await tenant.pass(controller(), resource)).changed).toEqual([]);
  });

  it('whose time is over is told, and not made', async () => {
    const { ready } = await tenant.pass(controller(), key('late', { expiration: '2020-01-01T00:00:00Z' }));
    expect(ready).toBe('False Expired');
    expect(await info('late')).toMatch(/no service account/);
  });

  it('goes with its resource', async () => {
    await tenant.pass(controller(), key('going'));
    expect(await tenant.remove(controller(), key('going'))).toEqual({ done: true });
    expect(await info('going')).toMatch(/no service account/);
    expect(await tenant.remove(controller(), key('going'))).toEqual({ done: true });
  });
});
