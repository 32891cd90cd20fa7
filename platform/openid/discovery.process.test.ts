import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../../test/support/openid/openid-provider.ts';
import { discover, isForPrograms } from './discovery.ts';
import type { LimitedFetch } from '../http/limited-fetch.ts';

let provider: OpenIdProviderDouble;
beforeAll(async () => {
  provider = await startOpenIdProvider();
});
afterEach(() => provider.heal());
afterAll(() => provider.close());

/** Answers every address with this document. */
const answering =
  (document: Record<string, unknown>): LimitedFetch =>
  () =>
    Promise.resolve(new Response(JSON.stringify(document)));

function documentOf(issuer: string, changes: Record<string, unknown> = {}): Record<string, unknown> {
  const endpoints = { authorization_endpoint: `${issuer}/a`, token_endpoint: `${issuer}/t`, jwks_uri: `${issuer}/k` };
  return { issuer, ...endpoints, ...changes };
}

const read = (configUrl: string, found: string, issuer?: string) =>
  discover(configUrl, { issuer, fetch: answering(documentOf(found)) });

describe('discover', () => {
  it('reads issuer and endpoints of a provider', async () => {
    const metadata = await discover(provider.configUrl);
    expect(metadata).toMatchObject({
      issuer: provider.issuer,
      tokenEndpoint: `${provider.issuer}/protocol/openid-connect/token`,
      jwksUri: `${provider.issuer}/protocol/openid-connect/certs`,
      warnings: [],
    });
  });

  it('refuses an address that does not end in the well-known path, and shows the path', async () => {
    await expect(discover(provider.issuer)).rejects.toMatchObject({
      code: 'ConfigUrlInvalid',
      message: expect.stringContaining('/.well-known/openid-configuration') as string,
    });
  });

  it.each(['', 'realm', 'ftp://127.0.0.1/.well-known/openid-configuration'])(
    'refuses the address "%s"',
    async (url) => {
      await expect(discover(url)).rejects.toMatchObject({ code: 'ConfigUrlInvalid' });
    },
  );

  it('says that nothing listens there', async () => {
    const gone = await startOpenIdProvider();
    await gone.close();
    await expect(discover(gone.configUrl)).rejects.toMatchObject({
      code: 'Unreachable',
      message: expect.stringContaining('refused') as string,
    });
  });

  it('gives up on a provider that never answers', async () => {
    provider.fail('discovery', { kind: 'hang' });
    await expect(discover(provider.configUrl, { timeoutMs: 50 })).rejects.toMatchObject({
      code: 'Unreachable',
      message: expect.stringContaining('did not answer within 50 ms') as string,
    });
  });

  it('refuses half a document', async () => {
    provider.fail('discovery', { kind: 'half-open' });
    await expect(discover(provider.configUrl)).rejects.toMatchObject({ code: 'Unreachable' });
  });

  it('tells a realm that does not exist from a provider that fails', async () => {
    const other = provider.configUrl.replace('/realms/demo', '/realms/other');
    await expect(discover(other)).rejects.toMatchObject({ code: 'NotFound' });
    provider.fail('discovery', { kind: 'status', status: 503 });
    await expect(discover(provider.configUrl)).rejects.toMatchObject({ code: 'UnexpectedStatus', transient: true });
  });

  it('does not follow a redirect but shows where it leads', async () => {
    provider.fail('discovery', { kind: 'status', status: 302, headers: { location: 'https://elsewhere.example/' } });
    await expect(discover(provider.configUrl)).rejects.toMatchObject({
      code: 'UnexpectedStatus',
      message: expect.stringContaining('https://elsewhere.example/') as string,
    });
  });

  it.each(['<html>', '[]', '"text"', 'null', ''])('refuses a body of %j', async (body) => {
    provider.fail('discovery', { kind: 'body', body });
    await expect(discover(provider.configUrl)).rejects.toMatchObject({ code: 'NotJson' });
  });

  it('refuses a document larger than a mebibyte', async () => {
    provider.fail('discovery', { kind: 'body', body: `{"issuer":"${'x'.repeat(1024 * 1024)}"}` });
    await expect(discover(provider.configUrl)).rejects.toMatchObject({ code: 'TooLarge' });
  });

  it('shows both issuers when they differ', async () => {
    provider.realm.discovery = { issuer: 'https://other.example/realms/demo' };
    const error: unknown = await discover(provider.configUrl).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'IssuerMismatch', transient: false });
    expect(String(error)).toContain('https://other.example/realms/demo');
    expect(String(error)).toContain(provider.issuer);
  });

  describe('whose issuer is another one on purpose', () => {
    const inside = 'http://keycloak:8080/realms/demo/.well-known/openid-configuration';
    const entra = 'https://login.microsoftonline.com/common/v2.0/.well-known/openid-configuration';
    const template = 'https://login.microsoftonline.com/{tenantid}/v2.0';
    const tenant = 'https://login.microsoftonline.com/8d3f-11/v2.0';

    it.each([
      ['behind another address', inside, 'https://sso.example/realms/demo', 'https://sso.example/realms/demo'],
      [
        'of all applications',
        'https://ak.example/application/o/app/.well-known/openid-configuration',
        'https://ak.example/',
        'https://ak.example/',
      ],
      ['of all tenants', entra, template, tenant],
      [
        'with the user flow in the query',
        'https://b.b2clogin.com/b/v2.0/.well-known/openid-configuration?p=b2c_1_in',
        'https://b.b2clogin.com/8d3f/v2.0/',
        'https://b.b2clogin.com/8d3f/v2.0/',
      ],
    ])('is read by the setting: one %s', async (_, configUrl, found, issuer) => {
      expect(await read(configUrl, found, issuer)).toMatchObject({ issuer });
    });

    it('is refused without the setting, and the line to write is in the message', async () => {
      await expect(read(inside, 'https://sso.example/realms/demo')).rejects.toThrow(
        'set issuer (ISSUER) to "https://sso.example/realms/demo"',
      );
      await expect(read(entra, template)).rejects.toThrow('write the ID of your tenant into config_url');
    });

    it.each([
      [inside, 'https://sso.example/realms/demo', 'https://sso.example/realms/other'],
      [inside, 'https://sso.example/realms/demo', 'https://sso.example/realms/demo/'],
      [entra, template, 'https://login.microsoftonline.com/a/b/v2.0'],
      [entra, template, 'https://other.example/8d3f/v2.0'],
    ])('is compared exactly: %s', async (configUrl, found, issuer) => {
      await expect(read(configUrl, found, issuer)).rejects.toMatchObject({ code: 'IssuerMismatch' });
    });
  });

  it('takes an issuer of tokens for programs, which has no sign-in', async () => {
    const issuer = 'https://token.actions.example';
    const fetch = answering({ issuer, jwks_uri: `${issuer}/keys` });
    const metadata = await discover(`${issuer}/.well-known/openid-configuration`, { fetch });
    expect(metadata).toMatchObject({ issuer, authorizationEndpoint: '', tokenEndpoint: '', jwksUri: `${issuer}/keys` });
    expect(isForPrograms(metadata)).toBe(true);
  });

  it.each(['authorization_endpoint', 'token_endpoint'])('misses %s where the other one is there', async (name) => {
    const issuer = 'https://idp.example';
    const fetch = answering(documentOf(issuer, { [name]: undefined }));
    await expect(discover(`${issuer}/.well-known/openid-configuration`, { fetch })).rejects.toMatchObject({
      code: 'EndpointMissing',
    });
  });

  it('takes an issuer that ends in a slash', async () => {
    const fetch = answering(documentOf('https://tenant.example/'));
    const metadata = await discover('https://tenant.example/.well-known/openid-configuration', { fetch });
    expect(metadata.issuer).toBe('https://tenant.example/');
  });

  it.each(['authorization_endpoint', 'token_endpoint', 'jwks_uri'])('names a missing %s', async (name) => {
    provider.realm.discovery = { [name]: undefined };
    await expect(discover(provider.configUrl)).rejects.toMatchObject({
      code: 'EndpointMissing',
      message: expect.stringContaining(name) as string,
    });
  });

  it('refuses an endpoint that is no web address', async () => {
    provider.realm.discovery = { jwks_uri: 'file:///etc/passwd' };
    await expect(discover(provider.configUrl)).rejects.toMatchObject({ code: 'EndpointMissing' });
  });

  it('warns of an issuer without TLS, unless it is on loopback', async () => {
    const issuer = 'http://idp.example/realms/demo';
    const metadata = await discover(`${issuer}/.well-known/openid-configuration`, {
      fetch: answering(documentOf(issuer)),
    });
    expect(metadata.warnings).toEqual([expect.stringContaining(issuer)]);
  });

  it('names the realm where Keycloak says that there is none', async () => {
    provider.fail('discovery', { kind: 'status', status: 404, body: '{"error":"Realm does not exist"}' });
    await expect(discover(provider.configUrl)).rejects.toMatchObject({
      code: 'NotFound',
      message: expect.stringMatching(/answered 404 \(Realm does not exist\); check the realm/) as string,
    });
  });
});
