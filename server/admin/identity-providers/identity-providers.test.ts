import { beforeEach, describe, expect, it } from 'vitest';
import type { IdentityProviderConfigurations } from '../../federation/configurations/provider-configurations.ts';
import { adminTest } from '../../../test/support/admin/admin.ts';
import { configurationsTest } from '../../../test/support/admin/configurations.ts';

let call: Awaited<ReturnType<typeof configurationsTest>>;

beforeEach(async () => {
  call = await configurationsTest();
});

const values = 'config_url=https://idp/realms/a/.well-known/openid-configuration client_id=a client_secret=hunter2';
const okta = 'idp-config/openid/okta';

describe('idp-config/openid', () => {
  it('adds, says that no restart is needed, and lists', async () => {
    expect(await call('PUT', okta, `${values} display_name=Our staff`)).toMatchObject({ status: 200, applied: true });
    const { text, isSealed } = await call('GET', 'idp-config/openid');
    expect(isSealed).toBe(true);
    expect(JSON.parse(text)).toEqual([
      { type: 'openid', name: 'fixed', enabled: true, roleARN: 'arn:minio:iam:::role/dummy-internal' },
      { type: 'openid', name: 'okta', enabled: true, roleARN: 'arn:minio:iam:::role/dummy-internal' },
    ]);
  });

  it('shows one with its secret redacted, and where its keys come from', async () => {
    await call('PUT', okta, values);
    const { text } = await call('GET', okta);
    expect(JSON.parse(text)).toMatchObject({ type: 'openid', name: 'okta' });
    const { info } = JSON.parse(text) as { info: unknown[] };
    expect(info).toContainEqual({ key: 'client_secret', value: '*REDACTED*', isCfg: true, isEnv: false });
    expect(text).not.toContain('hunter2');
    const fixed = JSON.parse((await call('GET', 'idp-config/openid/fixed')).text) as { info: unknown[] };
    expect(fixed.info).toContainEqual({ key: 'client_id', value: 'fixed-client', isCfg: false, isEnv: true });
  });

  it('changes and removes', async () => {
    await call('PUT', 'idp-config/openid/_', values);
    expect(await call('POST', 'idp-config/openid/_', 'enable=off')).toMatchObject({ status: 200, applied: true });
    expect((await call('GET', 'idp-config/openid')).text).toContain('"name":"_","enabled":false');
    expect(await call('DELETE', 'idp-config/openid/_')).toMatchObject({ status: 200, applied: true });
    expect((await call('GET', 'idp-config/openid')).text).not.toContain('"_"');
  });

  it.each([
    ['PUT', 'idp-config/openid/fixed', values, 'XMinioAdminConfigEnvOverridden'],
    ['POST', 'idp-config/openid/fixed', 'enable=off', 'XMinioAdminConfigEnvOverridden'],
    ['DELETE', 'idp-config/openid/fixed', undefined, 'XMinioAdminConfigEnvOverridden'],
    ['POST', okta, 'enable=off', 'XMinioAdminConfigIDPCfgNameDoesNotExist'],
    ['DELETE', okta, undefined, 'XMinioAdminConfigIDPCfgNameDoesNotExist'],
    ['GET', okta, undefined, 'XMinioAdminNoSuchConfigTarget'],
    ['GET', 'idp-config/saml', undefined, 'XMinioAdminNoSuchConfigTarget'],
    ['PUT', okta, `${values} vendor=acme`, 'XMinioConfigError'],
    ['PUT', okta, 'no keys at all', 'XMinioConfigError'],
  ])('%s %s %s is refused as %s', async (method, target, text, code) => {
    const answer = await call(method, target, text);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({ Code: code });
  });

  it.each([
    ['GET', 'There is no default openid configuration.'],
    ['POST', 'There is no default configuration: make it by "add".'],
    ['DELETE', 'There is no default configuration: make it by "add".'],
  ])('%s of the one without a name, which is absent, says so', async (method, message) => {
    const { text } = await call(method, 'idp-config/openid/_', method === 'POST' ? 'enable=off' : undefined);
    expect(JSON.parse(text)).toMatchObject({ Message: message });
  });

  it('refuses to add one that is there', async () => {
    await call('PUT', okta, values);
    const { text } = await call('PUT', okta, values);
    expect(JSON.parse(text)).toMatchObject({ Code: 'XMinioAdminConfigIDPCfgNameAlreadyExists' });
  });
});

describe('the right to configure', () => {
  it.each([
    ['PUT', 'idp-config/openid/okta', 'client_id=a'],
    ['POST', 'idp-config/openid/okta', 'enable=on'],
    ['DELETE', 'del-config-kv', 'identity_openid:okta role_policy'],
  ])('does not let %s %s say who has which policies', async (method, target, text) => {
    const test = await adminTest({ services: { identityProviders: [openIdOnly] } });
    const answer = async (...actions: string[]) => {
      const document = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: actions }] };
      await test.identities.putUser({ accessKey: 'clerk', secretKey: 'clerk-password' });
      await test.identities.putPolicy('clerk', JSON.stringify(document));
      await test.identities.setAttached({ kind: 'user', name: 'clerk' }, ['clerk']);
      return test.call('clerk', method, target, { sealedText: text });
    };
    expect(await answer('admin:ConfigUpdate')).toMatchObject({ status: 403 });
    expect((await answer('admin:ConfigUpdate', 'admin:AttachUserOrGroupPolicy')).status).toBe(200);
  });
});

const openIdOnly: IdentityProviderConfigurations = {
  subsystem: 'identity_openid',
  description: '',
  multiple: true,
  keys: [],
  list: () => Promise.resolve([]),
  get: () => Promise.resolve(undefined),
  save: () => Promise.resolve({ applied: true }),
  remove: () => Promise.resolve({ applied: true }),
};
