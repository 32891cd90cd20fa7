import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import { createAssumeRoleWithWebIdentity } from './assume-role-with-web-identity.ts';
import { testAccess } from '../../test/support/auth/sts.ts';
import type { AccessService } from '../auth/access.ts';
import { createOpenIdProviders, isSignedInAt, type OpenIdProviders } from '../federation/openid-providers.ts';

const issuer = 'https://kubernetes.default.svc.cluster.local';
let folder: string;
let tokenFile: string;
let apiServer: Server;
let address: string;
let key: CryptoKey;
let asked: string[];
let providers: OpenIdProviders | undefined;
let access: AccessService;
const lines: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-cluster-'));
  tokenFile = join(folder, 'token');
  const pair = await generateKeyPair('RS256');
  key = pair.privateKey;
  const keys = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }] };
  // As an API server: it wants a token, names no place to sign in, and its keys by an address that pods cannot reach.
  const documents: Record<string, object> = {
    '/.well-known/openid-configuration': { issuer, jwks_uri: 'https://203.0.113.1:6443/openid/v1/jwks' },
    '/openid/v1/jwks': keys,
  };
  apiServer = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(`${path} ${request.headers.authorization}`);
    if (request.headers.authorization !== 'Bearer pod-token-2') return response.writeHead(401).end('{}');
    // Keys it gives by their own type alone.
    const type = path.endsWith('/jwks') ? 'application/jwk-set+json' : 'application/json';
    if (!request.headers.accept?.includes(type)) return response.writeHead(406).end();
    return response.writeHead(200, { 'content-type': type }).end(JSON.stringify(documents[path]));
  });
  await new Promise<void>((resolve) => {
    apiServer.listen(0, '127.0.0.1', resolve);
  });
  address = `http://127.0.0.1:${(apiServer.address() as AddressInfo).port}`;
});
afterAll(async () => {
  apiServer.close();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  asked = [];
  lines.length = 0;
  access = await testAccess();
  await writeFile(tokenFile, 'pod-token-2\n');
});
afterEach(() => providers?.close());

const line = (_: object, message: string) => {
  lines.push(message);
};

async function assuming(changes: Partial<OpenIdProviderSettings> = {}) {
  const settings: OpenIdProviderSettings = {
    id: 'CLUSTER',
    enabled: true,
    configUrl: `${address}/.well-known/openid-configuration`,
    clientId: 'coffer',
    scopes: [],
    claimName: 'policy',
    claimUserinfo: false,
    rolePolicy: [],
    redirectUriDynamic: false,
    vendor: 'kubernetes',
    realm: 'master',
    tokenFile,
    ...changes,
  };
  const log = { debug: () => undefined, info: line, warn: line, error: line };
  providers = createOpenIdProviders({ settings: [settings], region: '', log, retryDelay: () => 60_000 });
  await providers.start();
  return createAssumeRoleWithWebIdentity({ providers, access });
}

function podToken(account = 'backup', changes: { audience?: string; namespace?: string } = {}) {
  const { audience = 'coffer', namespace = 'apps' } = changes;
  return new SignJWT({
    'kubernetes.io': { namespace, serviceaccount: { name: account, uid: 'u' }, pod: { name: 'p' } },
  })
    .setProtectedHeader({ alg: 'RS256', kid: 'k' })
    .setIssuer(issuer)
    .setSubject(`system:serviceaccount:${namespace}:${account}`)
    .setAudience([audience])
    .setExpirationTime('1h')
    .sign(key);
}

const attach = (claim: string, value: string) =>
  access.identities.attach({ kind: 'claim', provider: 'CLUSTER', claim, value }, ['readonly']);

describe('service accounts of a cluster', () => {
  it.each([
    ['the account', 'sub', 'system:serviceaccount:apps:backup'],
    ['every account of the namespace', 'sub', 'system:serviceaccount:apps:*'],
    ['the namespace by its claim', 'kubernetes.io/namespace', 'apps'],
  ])('have what is attached to %s, and no secret', async (_, claim, value) => {
    await attach(claim, value);
    const role = await (await assuming())({ token: await podToken() });
    const { principal } = role.credentials;
    const read = { principal, action: 's3:GetObject', resource: 'b/k', context: {} };
    expect((await access.authorize(read)).kind).toBe('allow');
    expect((await access.authorize({ ...read, action: 's3:PutObject' })).kind).toBe('deny');
    expect(principal.subject).toMatchObject({ displayName: 'system:serviceaccount:apps:backup' });
  });

  it('lose it when it is detached', async () => {
    await attach('sub', 'system:serviceaccount:apps:backup');
    const { principal } = (await (await assuming())({ token: await podToken() })).credentials;
    const target = {
      kind: 'claim',
      provider: 'CLUSTER',
      claim: 'sub',
      value: 'system:serviceaccount:apps:backup',
    } as const;
    await access.identities.detach(target, ['readonly']);
    const read = { principal, action: 's3:GetObject', resource: 'b/k', context: {} };
    expect((await access.authorize(read)).kind).toBe('deny');
  });

  it('can be named in policies', async () => {
    const document = {
      Version: '2012-10-17',
      // oxlint-disable-next-line no-template-curly-in-string -- a variable of policies
      Statement: [{ Effect: 'Allow', Action: ['s3:*'], Resource: ['arn:aws:s3:::${jwt:kubernetes.io/namespace}/*'] }],
    };
    await access.identities.putPolicy('own-namespace', JSON.stringify(document));
    const target = { kind: 'claim', provider: 'CLUSTER', claim: 'sub', value: 'system:serviceaccount:*' } as const;
    await access.identities.attach(target, ['own-namespace']);
    const { principal } = (await (await assuming())({ token: await podToken() })).credentials;
    const kind = async (resource: string) =>
      (await access.authorize({ principal, action: 's3:GetObject', resource, context: {} })).kind;
    expect([await kind('apps/a'), await kind('other/a')]).toEqual(['allow', 'deny']);
  });

  it.each([
    ['of another audience', { audience: 'https://kubernetes.default.svc' }, 'InvalidIdentityToken'],
    ['to which nothing is attached', { namespace: 'other' }, 'InvalidParameterValue'],
  ])('are refused with a token %s', async (_, changes, code) => {
    await attach('sub', 'system:serviceaccount:apps:*');
    const assume = await assuming();
    await expect(assume({ token: await podToken('backup', changes) })).rejects.toMatchObject({ code });
  });

  it('are told by name when nothing is attached to them', async () => {
    const assume = await assuming();
    await expect(assume({ token: await podToken('backup') })).rejects.toThrow(
      'No policy is attached to system:serviceaccount:apps:backup',
    );
  });
});

describe('the API server', () => {
  it('is asked with the token of the pod, and for its keys at the address that is known', async () => {
    await assuming();
    expect(asked).toEqual([
      '/.well-known/openid-configuration Bearer pod-token-2',
      '/openid/v1/jwks Bearer pod-token-2',
    ]);
    expect(providers?.list.filter(isSignedInAt)).toEqual([]);
  });

  it('need not be asked what is set', async () => {
    await assuming({ issuer, jwksUri: `${address}/openid/v1/jwks` });
    expect(asked).toEqual(['/openid/v1/jwks Bearer pod-token-2']);
  });

  it('never shows the token to another host', async () => {
    await assuming({
      configUrl: 'http://127.0.0.1:1/.well-known/openid-configuration',
      issuer,
      jwksUri: `${address}/openid/v1/jwks`,
    });
    expect(asked).toEqual(['/openid/v1/jwks undefined']);
  });

  it('is believed only with the issuer that is set', async () => {
    await assuming({ issuer: 'https://other' });
    expect(lines.join()).toContain('names the issuer');
  });

  it('that wants another token is said to', async () => {
    await writeFile(tokenFile, 'stale');
    await assuming();
    expect(lines.join()).toContain('the API server wants a token');
  });
});
