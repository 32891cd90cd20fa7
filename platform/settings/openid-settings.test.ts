import { describe, expect, it } from 'vitest';
import { valuesByKey } from './config-subsystems.ts';
import { keysOf, openIdKeys, providerFromKeys } from './openid-settings.ts';

const given = (values: Record<string, string>) => new Map(Object.entries(values));
const minimal = { config_url: 'https://idp/realms/a/.well-known/openid-configuration', client_id: 'coffer' };

describe('valuesByKey', () => {
  it('reads idp_admin_url, realm and their synonyms as one', () => {
    const { values, problems } = valuesByKey(
      openIdKeys,
      'an OpenID provider',
      given({ idp_admin_url: 'https://idp/admin', idp_realm: 'a' }),
    );
    expect([...values]).toEqual([
      ['keycloak_admin_url', 'https://idp/admin'],
      ['keycloak_realm', 'a'],
    ]);
    expect(problems).toEqual([]);
  });

  it('names unknown keys and the known ones', () => {
    const { problems } = valuesByKey(openIdKeys, 'an OpenID provider', given({ clientid: 'a' }));
    expect(problems.join('; ')).toMatch(/clientid is no key.*config_url, client_id, client_secret/);
  });

  it('refuses one key under two names', () => {
    const { problems } = valuesByKey(openIdKeys, 'an OpenID provider', given({ keycloak_realm: 'a', idp_realm: 'b' }));
    expect(problems).toEqual(['keycloak_realm is given twice, once as idp_realm']);
  });

  it.each(
    (
      'enable display_name config_url client_id client_secret claim_name claim_userinfo role_policy claim_prefix ' +
      'redirect_uri redirect_uri_dynamic scopes vendor keycloak_realm keycloak_admin_url comment user_readable_claim ' +
      'user_id_claim'
    ).split(' '),
  )('knows %s', (key) => {
    expect(openIdKeys.some((known) => known.key === key)).toBe(true);
  });
});

describe('providerFromKeys', () => {
  it('reads what the environment would say', () => {
    const { provider } = providerFromKeys('okta', given({ ...minimal, scopes: 'openid,email', enable: 'off' }));
    expect(provider).toMatchObject({ id: 'okta', enabled: false, clientId: 'coffer', scopes: ['openid', 'email'] });
  });

  it.each([
    [{ client_id: 'a' }, /^config_url is missing/],
    [{ ...minimal, claim_userinfo: 'maybe' }, /^claim_userinfo is "maybe": expected on or off/],
    [{ ...minimal, vendor: 'acme' }, /^vendor is "acme": expected one of keycloak/],
  ])('names the key that is wrong in %j', (values, says) => {
    expect(providerFromKeys('okta', given(values as Record<string, string>)).problems).toEqual([
      expect.stringMatching(says),
    ]);
  });

  it('takes line ends of a certificate as \\n', () => {
    const ca = '-----BEGIN CERTIFICATE-----\\nAA\\n-----END CERTIFICATE-----';
    expect(providerFromKeys('_', given({ ...minimal, ca })).provider?.ca).toContain('-----\nAA\n-----');
  });

  it('makes the keys from which it was made', () => {
    const values = given({
      ...minimal,
      role_policy: 'readonly',
      vendor: 'keycloak',
      keycloak_realm: 'a',
      comment: 'x',
    });
    const { provider } = providerFromKeys('okta', values);
    expect(provider && Object.fromEntries(keysOf(provider))).toEqual({ ...Object.fromEntries(values), enable: 'on' });
  });
});
