import { X509Certificate } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { issueCertificate } from '../../platform/tls/issue-certificate.ts';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import type { Credentials } from '../../protocol/sigv4/credentials.ts';
import { type AccessService, createCallerVerifier } from '../../server/auth/access.ts';
import type { IncomingRequest } from '../../server/http/contract/request.ts';
import { IdentityError } from '../../server/auth/identity-error.ts';
import { createOpenIdProviders, type OpenIdProviders } from '../../server/federation/openid-providers.ts';
import { RequestAudit } from '../../server/http/contract/request-audit.ts';
import { auditEntry, type AuditEntry } from '../../server/observability/audit/audit-entry.ts';
import { assumeRole, getCallerIdentity, signedCaller } from '../../server/sts/assume-role.ts';
import { assumeRoleWithCertificate } from '../../server/sts/assume-role-with-certificate.ts';
import {
  assumeRoleWithClientGrants,
  createAssumeRoleWithWebIdentity,
  webIdentityAction,
} from '../../server/sts/assume-role-with-web-identity.ts';
import { assumeRoleWithCustomToken } from '../../server/sts/assume-role-with-custom-token.ts';
import {
  createAssumeRoleWithLdapIdentity,
  ldapIdentityAction,
} from '../../server/sts/assume-role-with-ldap-identity.ts';
import { createStsHandler } from '../../server/sts/sts-handler.ts';
import {
  form,
  formRequest,
  type Parameters,
  rootKeys,
  signedForm,
  silent,
  testAccess,
  type Told,
  told,
} from '../support/auth/sts.ts';
import { type OpenIdProviderDouble, startOpenIdProvider } from '../support/openid/openid-provider.ts';
import { stsError } from '../../server/sts/sts-error.ts';

const bob = { accessKey: 'bob', secretKey: 'bobs-own-secret-key' };
const bert = { name: 'bert', dn: 'uid=bert,ou=people,dc=example,dc=org', groups: ['cn=staff,dc=example,dc=org'] };
const password = 'berts-own-password';
const pluginToken = 'token-of-the-plugin';
const clock = () => new Date();

let staff: OpenIdProviderDouble;
let providers: OpenIdProviders;
let certificate: X509Certificate;
let access: AccessService;
let serve: (request: IncomingRequest) => Promise<{ readonly answer: Told; readonly entry: AuditEntry }>;

beforeAll(async () => {
  staff = await startOpenIdProvider({
    users: [
      { username: 'ann', claims: { policy: ['readonly'], email: 'ann@example.org', api_token: 'claimed-token' } },
    ],
  });
  const settings: OpenIdProviderSettings = {
    id: 'STAFF',
    enabled: true,
    configUrl: staff.configUrl,
    clientId: 'coffer',
    clientSecret: 'coffer-secret',
    scopes: [],
    claimName: 'policy',
    claimUserinfo: false,
    rolePolicy: [],
    redirectUriDynamic: false,
    realm: 'demo',
  };
  providers = createOpenIdProviders({ settings: [settings], region: '', log: silent });
  await providers.start();
  const issued = await issueCertificate({ commonName: 'readonly', usages: ['client'], validForMs: 3_600_000 });
  certificate = new X509Certificate(issued.certPem);
});
afterAll(async () => {
  providers?.close();
  await staff?.close();
});

beforeEach(async () => {
  access = await testAccess();
  await access.identities.putUser(bob);
  await access.identities.attach({ kind: 'user', name: 'bob' }, ['readwrite']);
  await access.identities.attach({ kind: 'ldap-group', name: bert.groups[0] ?? '' }, ['readonly']);
  const assume = createAssumeRoleWithWebIdentity({ providers, access });
  const caller = signedCaller(createCallerVerifier({ credentials: access, clock }));
  const handle = createStsHandler({
    log: silent,
    actions: [
      assumeRole({ ...access, caller, clock }),
      webIdentityAction(assume),
      assumeRoleWithClientGrants(assume),
      ldapIdentityAction(createAssumeRoleWithLdapIdentity({ ...access, directory, clock })),
      assumeRoleWithCertificate({ ...access, settings: { skipVerify: true }, clock }),
      assumeRoleWithCustomToken({ ...access, plugin, region: '', clock }),
      getCallerIdentity({ caller }),
    ],
  });
  serve = async (request) => {
    const message = new IncomingMessage(new Socket());
    const audit = new RequestAudit(message);
    audit.setApi('sts');
    const sent = { ...request, audit };
    const answer = told(await handle(sent));
    const end = { status: answer.status, outcome: 'answered' as const, responseHeaders: [] };
    const finished = audit.finish(sent, end);
    return { answer, entry: auditEntry(finished, { deploymentId: 'D', rootUser: rootKeys.accessKey }) };
  };
});

const directory = {
  authenticate: (name: string, given: string) =>
    name === bert.name && given === password
      ? Promise.resolve(bert)
      : Promise.reject(
          new IdentityError('sign-in-refused', 'The directory does not let you in: name or password is wrong.'),
        ),
};

const plugin = {
  settings: { url: 'http://plugin.test/', authToken: 'Bearer plugin-secret', rolePolicy: ['readonly'], roleId: 'ext' },
  ask: (token: string) =>
    token === pluginToken
      ? Promise.resolve({ user: 'carl', maxSeconds: 7_200, claims: { email: 'carl@example.org' } })
      : Promise.reject(stsError('AccessDenied', 'The identity plugin refuses the token: it is stale')),
};

/** How each action is asked: by a signature, a proof in the form, or a certificate. */
const calls: Readonly<Record<string, (proof: string) => Parameters>> = {
  AssumeRole: () => ({}),
  GetCallerIdentity: () => ({}),
  AssumeRoleWithWebIdentity: (proof) => ({ WebIdentityToken: proof, WebIdentityAccessToken: proof }),
  AssumeRoleWithClientGrants: (proof) => ({ Token: proof }),
  AssumeRoleWithLDAPIdentity: (proof) => ({ LDAPUsername: 'bert', LDAPPassword: proof }),
  AssumeRoleWithCertificate: () => ({}),
  AssumeRoleWithCustomToken: (proof) => ({ Token: proof, RoleArn: 'arn:minio:iam:::role/idmp-ext' }),
};
const actions = Object.keys(calls);
const isSigned = (action: string) => action === 'AssumeRole' || action === 'GetCallerIdentity';

/** A proof that is good for the action. */
async function goodProof(action: string): Promise<string> {
  if (action === 'AssumeRoleWithLDAPIdentity') return password;
  return action === 'AssumeRoleWithCustomToken' ? pluginToken : staff.accessToken('ann');
}

interface Sent {
  readonly keys?: Credentials;
  readonly more?: Parameters;
  readonly place?: 'form' | 'query';
}

function ask(action: string, proof: string, { keys = bob, more = {}, place = 'form' }: Sent = {}) {
  const body = form({ Action: action, ...calls[action]?.(proof), ...more });
  if (isSigned(action)) return serve(signedForm(body, keys));
  const presented = { clientCertificate: () => ({ certificate }) };
  return serve(place === 'form' ? formRequest(body, presented) : formRequest('', { rawQuery: body, ...presented }));
}

const good = async (action: string, sent?: Sent) => ask(action, await goodProof(action), sent);

describe('STS in the audit log', () => {
  it.each<[string, Partial<AuditEntry>]>([
    [
      'AssumeRole',
      {
        accessKey: 'bob',
        identity: { kind: 'user', name: 'bob' },
        granted: expect.objectContaining({ parentUser: 'bob', name: 'bob', policies: ['readwrite'] }) as never,
      },
    ],
    [
      'AssumeRoleWithWebIdentity',
      {
        bearer: expect.objectContaining({ source: 'openid', provider: 'STAFF', name: 'ann' }) as never,
        requestClaims: expect.objectContaining({ email: 'ann@example.org', policy: ['readonly'] }) as never,
        granted: expect.objectContaining({ name: 'ann', provider: 'STAFF', policies: ['readonly'] }) as never,
      },
    ],
    [
      'AssumeRoleWithClientGrants',
      {
        bearer: expect.objectContaining({ source: 'openid', provider: 'STAFF', name: 'ann' }) as never,
        granted: expect.objectContaining({ name: 'ann', provider: 'STAFF', policies: ['readonly'] }) as never,
      },
    ],
    [
      'AssumeRoleWithLDAPIdentity',
      {
        bearer: { source: 'ldap', provider: 'ldap', subject: bert.dn, name: 'bert' },
        requestClaims: { user: bert.dn, username: 'bert', groups: bert.groups },
        granted: expect.objectContaining({ parentUser: bert.dn, policies: ['readonly'] }) as never,
      },
    ],
    [
      'AssumeRoleWithCertificate',
      {
        bearer: expect.objectContaining({ source: 'certificate', provider: 'tls', name: 'readonly' }) as never,
        granted: expect.objectContaining({ parentUser: 'tls:readonly', policies: ['readonly'] }) as never,
      },
    ],
    [
      'AssumeRoleWithCustomToken',
      {
        bearer: { source: 'custom', provider: 'plugin', subject: 'carl', name: 'carl' },
        requestClaims: { email: 'carl@example.org' },
        granted: expect.objectContaining({ parentUser: 'custom:carl', policies: ['readonly'] }) as never,
      },
    ],
  ])('%s says who asked, what they got, and until when', async (action, expected) => {
    const { answer, entry } = await good(action);
    expect(entry).toMatchObject({ api: { name: action, statusCode: 200 }, ...expected });
    const expiration = /<Expiration>([^<]*)</.exec(answer.xml)?.[1] ?? '';
    expect(entry.granted?.accessKey).toBe(answer.accessKey);
    expect(Date.parse(entry.granted?.expiration ?? '')).toBe(Date.parse(expiration));
    expect(entry).not.toHaveProperty('error');
  });

  it('has the subject and the issuer of a token, and the fingerprint and the issuer of a certificate', async () => {
    expect((await good('AssumeRoleWithWebIdentity')).entry.bearer).toMatchObject({
      issuer: staff.issuer,
      subject: staff.user('ann').id,
    });
    expect((await good('AssumeRoleWithCertificate')).entry.bearer).toMatchObject({
      issuer: 'CN=readonly',
      subject: certificate.fingerprint256,
    });
  });

  it('says that a session policy narrows what was given', async () => {
    const Policy =
      '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"arn:aws:s3:::a"}]}';
    expect((await good('AssumeRole', { more: { Policy } })).entry.granted?.narrowed).toBe(true);
    expect((await good('AssumeRole')).entry.granted?.narrowed).toBe(false);
  });

  it.each(actions.filter((action) => !isSigned(action) && action !== 'AssumeRoleWithCertificate'))(
    '%s says why it was refused, as the client was told, and at which provider',
    async (action) => {
      const { answer, entry } = await ask(action, 'not-a-proof-of-anything');
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(entry).toMatchObject({
        api: { name: action, statusCode: answer.status },
        error: `${answer.code}: ${answer.message}`,
      });
      expect(entry).not.toHaveProperty('granted');
      if (entry.bearer !== undefined) expect(entry.bearer).not.toHaveProperty('subject');
    },
  );

  it('says who was refused whose proof was right, and by which claim', async () => {
    const { answer, entry } = await ask(
      'AssumeRoleWithWebIdentity',
      await staff.accessToken('ann', { policy: 'gone' }),
    );
    expect(answer.code).toBe('InvalidParameterValue');
    expect(entry).toMatchObject({
      error: `${answer.code}: ${answer.message}`,
      bearer: { provider: 'STAFF', name: 'ann' },
      requestClaims: { policy: 'gone' },
    });
  });

  it('says which statement denied it, which the client is not told', async () => {
    const deny =
      '{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"sts:*","Resource":"arn:aws:s3:::*"}]}';
    await access.identities.putPolicy('no-sessions', deny);
    await access.identities.attach({ kind: 'user', name: 'bob' }, ['no-sessions']);
    const { answer, entry } = await good('AssumeRole');
    expect(entry).toMatchObject({
      accessKey: 'bob',
      error: `${answer.code}: ${answer.message}`,
      decisions: [
        { action: 'sts:AssumeRole', effect: 'deny', reason: expect.stringContaining('no-sessions') as string },
      ],
    });
    expect(answer.message).not.toContain('no-sessions');
  });

  it('has no name that the directory does not know: it may be a password in the wrong field', async () => {
    const { entry } = await ask('AssumeRoleWithLDAPIdentity', 'bert', { more: { LDAPUsername: password } });
    expect(JSON.stringify(entry)).not.toContain(password);
  });

  it('never has a secret, a token or a password, whatever is called and however it ends', async () => {
    const places = fc.constantFrom<'form' | 'query'>('form', 'query');
    const hidden = fc.stringMatching(/^[A-Za-z0-9]{24,60}$/);
    const broken = fc.record(
      {
        DurationSeconds: fc.constantFrom('1', 'soon', '900', '99999999999'),
        Policy: fc.constantFrom('{', '{}'),
        TokenRevokeType: hidden,
        Version: fc.constantFrom('2010-01-01'),
        RoleArn: fc.constantFrom('arn:aws:iam::1:role/x', 'arn:minio:iam:::role/idmp-other'),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...actions),
        fc.oneof(fc.constant('good'), hidden),
        fc.oneof(fc.constant({}), broken),
        places,
        hidden,
        async (action, kind, more: Parameters, place, wrongKey) => {
          const proof = kind === 'good' ? await goodProof(action) : kind;
          const keys = kind === 'good' ? bob : { accessKey: 'bob', secretKey: wrongKey };
          const { answer, entry } = await ask(action, proof, { keys, more, place });
          const text = JSON.stringify(entry);
          const { secretKey, sessionToken } = answer.credentials;
          const secrets = [bob.secretKey, rootKeys.secretKey, password, pluginToken, 'plugin-secret', 'coffer-secret'];
          const made = [secretKey, sessionToken, more.TokenRevokeType ?? '', 'claimed-token'];
          for (const secret of [...secrets, ...made, proof, wrongKey].filter((one) => one !== '')) {
            expect(text).not.toContain(secret);
            expect(text).not.toContain(encodeURIComponent(secret));
          }
          expect(answer.accessKey === '' ? undefined : answer.accessKey).toBe(entry.granted?.accessKey);
        },
      ),
      { numRuns: 150 },
    );
  });
});
