import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../../test/support/openid/openid-provider.ts';
import { createKeycloakAdmin, type KeycloakAdminOptions } from './keycloak-admin.ts';
import { createLimitedFetch } from '../http/limited-fetch.ts';

let double: OpenIdProviderDouble;

beforeAll(async () => {
  double = await startOpenIdProvider({ users: [{ username: 'ann' }] });
});
beforeEach(() => {
  double.heal();
  double.user('ann').enabled = true;
  double.requests.length = 0;
});
afterAll(() => double.close());

const admin = (changes: Partial<KeycloakAdminOptions> = {}) =>
  createKeycloakAdmin({
    adminUrl: double.adminUrl,
    realm: 'demo',
    tokenEndpoint: `${double.issuer}/protocol/openid-connect/token`,
    clientId: 'coffer',
    clientSecret: 'coffer-secret',
    fetch: createLimitedFetch(),
    ...changes,
  });
const ann = () => double.user('ann').id;
const logIns = () => double.requests.filter((request) => request.endsWith('/token')).length;

describe('createKeycloakAdmin', () => {
  it.each([true, false])('knows whether a user is enabled: %s', async (enabled) => {
    double.user('ann').enabled = enabled;
    expect(await admin().stateOf(ann())).toEqual({ kind: enabled ? 'active' : 'disabled' });
  });

  it('knows who is gone', async () => {
    expect(await admin().stateOf('nobody')).toEqual({ kind: 'gone' });
  });

  it.each(['', '/', '/admin', '/admin/'])('takes the address of the interface with %j at its end', async (end) => {
    const { origin } = new URL(double.issuer);
    expect(await admin({ adminUrl: origin + end }).stateOf(ann())).toEqual({ kind: 'active' });
  });

  it('takes null for no user', async () => {
    double.fail('admin', { kind: 'body', body: 'null' });
    expect(await admin().stateOf(ann())).toEqual({ kind: 'gone' });
  });

  it('logs in once for many people', async () => {
    const one = admin();
    await Promise.all([one.stateOf(ann()), one.stateOf(ann())]);
    await one.stateOf(ann());
    expect(logIns()).toBe(1);
  });

  it('logs in again when its token is refused, once', async () => {
    const one = admin();
    await one.stateOf(ann());
    double.forgetBearers();
    expect(await one.stateOf(ann())).toEqual({ kind: 'active' });
    expect(logIns()).toBe(2);
    double.fail('admin', { kind: 'status', status: 401 });
    await expect(one.stateOf(ann())).rejects.toMatchObject({
      code: 'AdminRefused',
      message: expect.stringMatching(/401.*view-users/) as string,
    });
    expect(logIns()).toBe(3);
  });

  it('takes no user for gone where realm or address are wrong', async () => {
    await expect(admin({ realm: 'other' }).stateOf(ann())).rejects.toMatchObject({
      code: 'AdminRefused',
      message: expect.stringMatching(/404.*keycloak_realm \("other"\)/) as string,
    });
  });

  it('names the role that is missing', async () => {
    for (const client of double.realm.clients.values()) client.mayViewUsers = false;
    await expect(admin().stateOf(ann())).rejects.toThrow(/403.*"coffer".*view-users/);
    for (const client of double.realm.clients.values()) client.mayViewUsers = true;
  });

  it('gets a new token for a role that came later, but not for each person who is asked about', async () => {
    let time = 0;
    const one = admin({ now: () => time });
    await one.stateOf(ann());
    double.fail('admin', { kind: 'status', status: 403 });
    await one.stateOf(ann()).catch(() => undefined);
    expect(logIns()).toBe(1);
    time = 10_001;
    for (let count = 0; count < 3; count += 1) await one.stateOf(ann()).catch(() => undefined);
    expect(logIns()).toBe(2);
  });

  it('names the client whose secret is wrong, and not the secret', async () => {
    const failure = admin({ clientSecret: 'hunter2' }).stateOf(ann());
    await expect(failure).rejects.toThrow(/"coffer" no token.*invalid_client/);
    await expect(failure).rejects.not.toThrow(/hunter2/);
  });

  it.each(['{}', '[]', 'html', '{"enabled":"true"}'])('takes no user for gone by %s', async (body) => {
    double.fail('admin', { kind: 'body', body });
    await expect(admin().stateOf(ann())).rejects.toMatchObject({ code: 'AdminRefused' });
  });

  it.each([
    ['hang', { kind: 'hang' }, 'Unreachable'],
    ['half an answer', { kind: 'half-open' }, 'Unreachable'],
    ['500', { kind: 'status', status: 500 }, 'AdminRefused'],
    ['503', { kind: 'status', status: 503 }, 'AdminRefused'],
    ['a redirect', { kind: 'status', status: 302 }, 'AdminRefused'],
  ] as const)('takes no user for gone by %s', async (_what, fault, code) => {
    double.fail('admin', fault);
    const fetch = createLimitedFetch(fault.kind === 'hang' ? { timeoutMs: 500 } : {});
    await expect(admin({ fetch }).stateOf(ann())).rejects.toMatchObject({ code });
  });

  it('asks for no other user, whatever the name', async () => {
    await admin().stateOf('../../../demo/users/x?y#z');
    expect(double.requests.at(-2)).toBe('GET /admin/realms/demo/users/..%2F..%2F..%2Fdemo%2Fusers%2Fx%3Fy%23z');
  });

  it('recovers after a login that failed', async () => {
    double.fail('token', { kind: 'status', status: 503 });
    const one = admin();
    await expect(one.stateOf(ann())).rejects.toMatchObject({ code: 'AdminRefused' });
    double.heal();
    expect(await one.stateOf(ann())).toEqual({ kind: 'active' });
  });
});
