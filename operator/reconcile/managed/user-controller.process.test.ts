import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { User } from '../../api/object.ts';
import type { UserSpec } from '../../api/user.ts';
import { keysWork } from './credentials.ts';
import { TestTenant } from '../../../test/support/operator/test-tenant.ts';
import { createUserController } from './user-controller.ts';

let tenant: TestTenant;
beforeAll(async () => {
  tenant = await TestTenant.start();
});
afterAll(() => tenant.server.stop());

const controller = () => createUserController(tenant.options);
const user = (name: string, spec: Partial<UserSpec> = {}): User => ({
  kind: 'User',
  metadata: { name },
  spec: { tenantRef: { name: 'demo' }, disabled: false, deletionPolicy: 'Delete', ...spec },
});
const works = (accessKey: string, secretKey: string) =>
  keysWork(
    { address: tenant.access.address, tls: false, accessKey, secretKey },
    { accessKey, secretKey },
    () => new Date(),
  );
const byHand = (accessKey: string, body: object) =>
  tenant.admin({ method: 'PUT', path: 'v3/add-user', query: { accessKey }, body, sealed: 'body' });
const info = (accessKey: string) =>
  tenant.admin({ method: 'GET', path: 'v3/user-info', query: { accessKey } }).catch((error: Error) => error.message);

describe('a user', () => {
  it('is made with the keys of the Secret, and left alone afterwards', async () => {
    const first = await tenant.pass(controller(), user('ann'), { secretKey: 'secret-of-ann' });
    expect(first.ready).toBe('True Ready');
    expect(first.changed).toEqual(['there is no such user']);
    expect(first.status).toEqual({
      accessKey: 'ann',
      credentialsSecret: 'ann-credentials',
      credentials: expect.any(String),
    });
    expect(await works('ann', 'secret-of-ann')).toBe(true);
    expect((await tenant.pass(controller(), user('ann'), { secretKey: 'secret-of-ann' })).changed).toEqual([]);
  });

  it('whose keys were changed by hand, or in the Secret, has those of the Secret again', async () => {
    await tenant.pass(controller(), user('bob'), { secretKey: 'secret-of-bob' });
    await byHand('bob', { secretKey: 'changed-by-hand' });
    const { changed, message } = await tenant.pass(controller(), user('bob'), { secretKey: 'secret-of-bob' });
    expect(changed).toEqual(['the secret key is not that of the Secret']);
    expect(message).not.toContain('secret-of-bob');
    expect(await works('bob', 'secret-of-bob')).toBe(true);
    await tenant.pass(controller(), user('bob'), { secretKey: 'another-secret' });
    expect(await works('bob', 'another-secret')).toBe(true);
    expect(await works('bob', 'secret-of-bob')).toBe(false);
  });

  it('that a backup gave back without its status keeps the keys that the tenant knows, whatever the Secret says', async () => {
    await tenant.pass(controller(), user('ida'), { secretKey: 'key-of-applications' });
    const restored = { secretKey: 'older-key', status: {} };
    const { ready, types, changed, message } = await tenant.pass(controller(), user('ida'), restored);
    expect([ready, types.includes('Stalled'), changed]).toEqual(['False CredentialsDiffer', true, []]);
    expect(await works('ida', 'key-of-applications')).toBe(true);
    // The key that applications use, in the Secret again.
    const again = await tenant.pass(controller(), user('ida'), { secretKey: 'key-of-applications', status: {} });
    expect([again.ready, again.changed]).toEqual(['True Ready', []]);
    // Or what the message says, which counts for this value alone.
    const [, annotation = '', digest = ''] = /(coffer\.dev\/take-credentials)=([0-9a-f]+)$/.exec(message) ?? [];
    const taking = { ...user('ida'), metadata: { name: 'ida', annotations: { [annotation]: digest } } };
    const other = await tenant.pass(controller(), taking, { secretKey: 'third-key', status: {} });
    expect(other.ready).toBe('False CredentialsDiffer');
    await tenant.pass(controller(), taking, restored);
    expect(await works('ida', 'older-key')).toBe(true);
  });

  it('rests while they are disabled, and comes back with the keys of the Secret', async () => {
    await tenant.pass(controller(), user('eve'), { secretKey: 'secret-of-eve' });
    await tenant.pass(controller(), user('eve', { disabled: true }), { secretKey: 'secret-of-eve' });
    expect(await works('eve', 'secret-of-eve')).toBe(false);
    expect((await tenant.pass(controller(), user('eve', { disabled: true }))).changed).toEqual([]);
    await tenant.pass(controller(), user('eve'), { secretKey: 'newer-secret-of-eve' });
    expect(await works('eve', 'newer-secret-of-eve')).toBe(true);
  });

  it('is a member of exactly the groups that are named, or of whichever where none are', async () => {
    await tenant.pass(controller(), user('gil', { groups: ['readers', 'writers'] }));
    expect(await info('gil')).toMatchObject({ memberOf: ['readers', 'writers'] });
    const body = { group: 'others', members: ['gil'], isRemove: false };
    await tenant.admin({ method: 'PUT', path: 'v3/update-group-members', body });
    const { changed } = await tenant.pass(controller(), user('gil', { groups: ['readers'] }));
    expect(changed).toEqual([
      'the user is a member of the group "others"',
      'the user is a member of the group "writers"',
    ]);
    expect(await info('gil')).toMatchObject({ memberOf: ['readers'] });
    expect((await tenant.pass(controller(), user('gil'))).changed).toEqual([]);
  });

  it('cannot have the name of the root user', async () => {
    const { ready, types } = await tenant.pass(controller(), user('a', { accessKey: tenant.access.rootUser }));
    expect(ready).toBe('False AccessKeyTaken');
    expect(types).toContain('Stalled');
  });

  it('goes with its resource', async () => {
    await tenant.pass(controller(), user('zoe'));
    expect(await tenant.remove(controller(), user('zoe'))).toEqual({ done: true });
    expect(await info('zoe')).toMatch(/There is no user/);
    expect(await tenant.remove(controller(), user('zoe'))).toEqual({ done: true });
  });
});
