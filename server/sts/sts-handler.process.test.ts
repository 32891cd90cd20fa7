import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SignJWT, type JWTPayload } from 'jose';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../../test/support/openid/openid-provider.ts';
import { createAccess, type AccessService, createCallerVerifier } from '../auth/access.ts';
import type { Answer } from '../http/contract/request.ts';
import { createOpenIdProviders, type OpenIdProviders } from '../federation/openid-providers.ts';
import { type StoredCredentials, subjectOf } from '../auth/principal.ts';
import { openIdentities } from '../auth/identities/open-identities.ts';
import { noKeySource } from '../encryption/key-source.ts';
import { sealedRecords } from '../encryption/sealed-records.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { assumeRole, getCallerIdentity, signedCaller } from './assume-role.ts';
import {
  assumeRoleWithClientGrants,
  createAssumeRoleWithWebIdentity,
  webIdentityAction,
} from './assume-role-with-web-identity.ts';
import { createStsHandler } from './sts-handler.ts';
import { bodyFrom } from '../objects/contract/body-source.ts';

let staff: OpenIdProviderDouble;
let partners: OpenIdProviderDouble;
let store: MemoryRecordStore;
let access: AccessService;
let providers: OpenIdProviders | undefined;
let lines: string[];

beforeAll(async () => {
  staff = await startOpenIdProvider({
    users: [{ username: 'ann', claims: { policy: ['readonly'], email: 'ann@example.org' } }, { username: 'nopolicy' }],
    clients: [{ id: 'coffer' }, { id: 'robots' }],
  });
  partners = await startOpenIdProvider({ users: [{ username: 'pat', claims: { policy: 'writeonly' } }] });
});
afterAll(() => Promise.all([staff.close(), partners.close()]));

beforeEach(async () => {
  lines = [];
  store = new MemoryRecordStore();
  const records = sealedRecords({ records: store, keys: noKeySource });
  await records.start();
  const root = { user: 'root', password: 'root-password' };
  access = createAccess({
    records,
    root,
    identities: openIdentities({ records, rootUser: root.user, staleMs: 0, clock: () => new Date() }),
    bucketAccess: () => Promise.resolve(undefined),
    objectTags: () => Promise.resolve(undefined),
    objectAcl: () => Promise.resolve(undefined),
  });
});
afterEach(() => {
  staff.heal();
  partners.heal();
  providers?.close();
});

const settings = (
  double: OpenIdProviderDouble,
  changes: Partial<OpenIdProviderSettings> = {},
): OpenIdProviderSettings => ({
  id: 'STAFF',
  enabled: true,
  configUrl: double.configUrl,
  clientId: 'coffer',
  clientSecret: 'coffer-secret',
  scopes: [],
  claimName: 'policy',
  claimUserinfo: false,
  rolePolicy: [],
  redirectUriDynamic: false,
  realm: 'demo',
  ...changes,
});

const line = (fields: object, message: string) => {
  lines.push(`${JSON.stringify(fields)} ${message}`);
};
const log = { debug: () => undefined, info: line, warn: line, error: line };

async function handler(list: OpenIdProviderSettings[], changes: { clock?: () => Date; defaultDuration?: number } = {}) {
  providers = createOpenIdProviders({ settings: list, region: '', log, retryDelay: () => 60_000 });
  await providers.start();
  const clock = changes.clock ?? (() => new Date());
  const assume = createAssumeRoleWithWebIdentity({ providers, access, ...changes });
  const caller = signedCaller(createCallerVerifier({ credentials: access, clock }));
  const actions = [
    webIdentityAction(assume),
    assumeRoleWithClientGrants(assume),
    assumeRole({ ...access, caller, clock }),
    getCallerIdentity({ caller }),
  ];
  return createStsHandler({ actions, log });
}

type Parameters = Record<string, string | undefined>;

/** The form of an SDK; `undefined` takes a parameter out. */
function form(parameters: Parameters): URLSearchParams {
  const all = { Action: 'AssumeRoleWithWebIdentity', Version: '2011-06-15', ...parameters };
  return new URLSearchParams(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

const request = (body: string, rawQuery = '', contentType = 'application/x-www-form-urlencoded; charset=utf-8') => ({
  requestId: 'REQUEST',
  method: 'POST',
  rawPath: '/',
  rawQuery,
  headers: { 'content-type': contentType },
  body: bodyFrom(Readable.from([Buffer.from(body)])),
  secure: true,
  remoteAddress: '127.0.0.1',
});

const xmlOf = (answer: Answer): string => (answer.body.kind === 'bytes' ? answer.body.bytes.toString() : '');
const element = (xml: string, name: string): string =>
  (new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '').replaceAll('&quot;', '"');

async function call(parameters: Parameters, list = [settings(staff)]) {
  const answer = await (await handler(list))(request(form(parameters).toString()));
  const xml = xmlOf(answer);
  return { status: answer.status, xml, code: element(xml, 'Code'), message: element(xml, 'Message') };
}

const annsToken = (claims: JWTPayload = {}) => staff.accessToken('ann', claims);
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

describe('AssumeRoleWithWebIdentity', () => {
  it('gives credentials whose principal has the policies of the token', async () => {
    const { status, xml } = await call({ WebIdentityToken: await annsToken() });
    expect(status).toBe(200);
    const found = await access.credentials(element(xml, 'AccessKeyId'));
    expect(found).toMatchObject({
      secretKey: element(xml, 'SecretAccessKey'),
      sessionToken: element(xml, 'SessionToken'),
      principal: { kind: 'temporary', subject: { policies: ['readonly'], provider: 'STAFF', displayName: 'ann' } },
    });
  });

  it('answers in the XML of STS', async () => {
    const { xml } = await call({ WebIdentityToken: await annsToken() });
    expect(xml).toMatch(
      /^<\?xml[^>]*>\n<AssumeRoleWithWebIdentityResponse xmlns="https:\/\/sts\.amazonaws\.com\/doc\/2011-06-15\/"><AssumeRoleWithWebIdentityResult>/,
    );
    expect(element(xml, 'SubjectFromWebIdentityToken')).toBe(staff.user('ann').id);
    expect(element(xml, 'RequestId')).toBe('REQUEST');
    expect(element(xml, 'Expiration')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
  });

  it('takes the parameters from the query as well', async () => {
    const serve = await handler([settings(staff)]);
    const answer = await serve(request('', form({ WebIdentityToken: await annsToken() }).toString(), 'text/plain'));
    expect(answer.status).toBe(200);
  });

  it('keeps the same person for every token of theirs, and another for the same subject elsewhere', async () => {
    const list = [settings(staff), settings(partners, { id: 'PARTNERS' })];
    const serve = await handler(list);
    const parentOf = async (token: string) => {
      const xml = xmlOf(await serve(request(form({ WebIdentityToken: token }).toString())));
      const found = await access.credentials(element(xml, 'AccessKeyId'));
      return found && federatedOf(found)?.parent;
    };
    const ann = await parentOf(await annsToken());
    expect(ann).toMatch(/^[\w-]{43}$/);
    expect(await parentOf(await staff.idToken('ann'))).toBe(ann);
    expect(await parentOf(await partners.accessToken('pat', { sub: staff.user('ann').id }))).not.toBe(ann);
  });

  describe('lifetime', () => {
    it('is that of the token, or sooner', async () => {
      const exp = inSeconds(7_200);
      const whole = await call({ WebIdentityToken: await annsToken({ exp }) });
      expect(Date.parse(element(whole.xml, 'Expiration'))).toBe(exp * 1000);
      const short = await call({ WebIdentityToken: await annsToken({ exp }), DurationSeconds: '900' });
      expect(Date.parse(element(short.xml, 'Expiration')) / 1000).toBeLessThanOrEqual(inSeconds(900));
      const long = await call({ WebIdentityToken: await annsToken({ exp }), DurationSeconds: '86400' });
      expect(Date.parse(element(long.xml, 'Expiration'))).toBe(exp * 1000);
    });

    it('comes from the settings where the request names none', async () => {
      const serve = await handler([settings(staff)], { defaultDuration: 1_000 });
      const token = await annsToken({ exp: inSeconds(7_200) });
      const xml = xmlOf(await serve(request(form({ WebIdentityToken: token }).toString())));
      expect(Date.parse(element(xml, 'Expiration')) / 1000).toBeLessThanOrEqual(inSeconds(1_000));
    });

    it.each(['899', '31536001', 'soon'])('refuses %s seconds', async (DurationSeconds) => {
      const rejected = await call({ WebIdentityToken: await annsToken(), DurationSeconds });
      expect(rejected).toMatchObject({ status: 400, code: 'InvalidParameterValue' });
    });

    it('is over for an expired token', async () => {
      const rejected = await call({ WebIdentityToken: await annsToken({ exp: inSeconds(-60) }) });
      expect(rejected).toMatchObject({ status: 400, code: 'ExpiredTokenException' });
      // Within the tolerance the token holds, but what it would buy has ended.
      const barely = await call({ WebIdentityToken: await annsToken({ exp: inSeconds(-2) }) });
      expect(barely).toMatchObject({ status: 400, code: 'ExpiredTokenException' });
    });
  });

  describe('refuses', () => {
    it('a token without the policy claim, naming the claim', async () => {
      const rejected = await call({ WebIdentityToken: await staff.accessToken('nopolicy') });
      expect(rejected).toMatchObject({ status: 400, code: 'InvalidParameterValue' });
      expect(rejected.message).toContain('policy claim "policy" is missing');
    });

    it('policies that are not defined, naming them', async () => {
      const rejected = await call({ WebIdentityToken: await annsToken({ policy: ['gone'] }) });
      expect(rejected).toMatchObject({ status: 400, code: 'InvalidParameterValue' });
      expect(rejected.message).toContain('`gone`');
    });

    it('a token for another client', async () => {
      const rejected = await call({ WebIdentityToken: await annsToken({ azp: 'else', aud: 'else' }) });
      expect(rejected).toMatchObject({ status: 400, code: 'InvalidIdentityToken' });
    });

    it('a token of an issuer that is not configured, naming the providers without their addresses', async () => {
      const list = [settings(staff), settings(staff, { id: 'SECOND', clientId: 'robots' })];
      const rejected = await call({ WebIdentityToken: await partners.accessToken('pat') }, list);
      expect(rejected).toMatchObject({ status: 400, code: 'InvalidIdentityToken' });
      expect(rejected.message).toContain('SECOND: issuer "[address]"');
      expect(rejected.message).not.toMatch(/127\.0\.0\.1|localhost/);
    });

    it('a token that another provider signed in the name of this one', async () => {
      const forged = await partners.accessToken('pat', { iss: staff.issuer });
      const rejected = await call({ WebIdentityToken: forged });
      expect(rejected.status).toBe(400);
      expect(rejected.code).toBe('InvalidIdentityToken');
    });

    it('a token that an application wrote with the secret of the client, which Keycloak lists HS256 for', async () => {
      staff.realm.discovery = { id_token_signing_alg_values_supported: ['RS256', 'HS256'] };
      try {
        const forged = await new SignJWT({ iss: staff.issuer, sub: 'x', azp: 'coffer', policy: 'consoleAdmin' })
          .setProtectedHeader({ alg: 'HS256' })
          .setExpirationTime('1h')
          .sign(new TextEncoder().encode('coffer-secret'));
        expect(await call({ WebIdentityToken: forged })).toMatchObject({ status: 400, code: 'InvalidIdentityToken' });
      } finally {
        staff.realm.discovery = {};
      }
    });

    it.each([
      ['no action', { Action: undefined }, 'MissingParameter'],
      ['no version', { Version: undefined }, 'MissingParameter'],
      ['another version', { Version: '2010-01-01' }, 'MissingParameter'],
      ['no token', {}, 'MissingParameter'],
      ['an empty token', { WebIdentityToken: '' }, 'MissingParameter'],
      ['what is no token', { WebIdentityToken: 'hello' }, 'InvalidIdentityToken'],
      ['a token without end', { WebIdentityToken: 'x'.repeat(20_001) }, 'InvalidParameterValue'],
      ['an unknown action', { Action: 'Dance' }, 'InvalidAction'],
    ])('%s', async (_, parameters: Parameters, code) => {
      expect(await call(parameters)).toMatchObject({ status: 400, code });
    });

    it('a form without end', async () => {
      expect(await call({ Policy: 'x'.repeat(70_000) })).toMatchObject({ status: 400, code: 'InvalidParameterValue' });
    });

    it('a parameter that comes twice', async () => {
      const serve = await handler([settings(staff)]);
      const twice = `${form({ WebIdentityToken: await annsToken() }).toString()}&DurationSeconds=900&DurationSeconds=901`;
      expect((await serve(request(twice))).status).toBe(400);
    });

    it('everything where no provider is configured', async () => {
      const rejected = await call({ WebIdentityToken: await annsToken() }, []);
      expect(rejected).toMatchObject({ status: 400, code: 'InvalidParameterValue' });
    });
  });

  describe('session policy', () => {
    const narrow = JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::reports/*' }],
    });

    it.each([
      [{ org: { department: 'hr' } }, ['allow', 'deny']],
      [{ org: { department: 7 } }, ['deny', 'deny']],
      [{}, ['deny', 'allow']],
    ])('puts any text claim into resources, and a default where it is absent alone: %j', async (claims, expected) => {
      const Resource = "arn:aws:s3:::home/${jwt:org.department, 'none'}/*";
      const Policy = JSON.stringify({
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Action: 's3:GetObject', Resource }],
      });
      const { xml } = await call({ WebIdentityToken: await staff.idToken('ann', claims), Policy });
      const found = await access.credentials(element(xml, 'AccessKeyId'));
      if (found === undefined) throw new Error('no credentials');
      const { principal } = found;
      const kinds = ['home/hr/a', 'home/none/a'].map(
        async (resource) => (await access.authorize({ principal, action: 's3:GetObject', resource, context: {} })).kind,
      );
      expect(await Promise.all(kinds)).toEqual(expected);
    });

    it('narrows what the credentials may do', async () => {
      const { xml } = await call({ WebIdentityToken: await annsToken(), Policy: narrow });
      const found = await access.credentials(element(xml, 'AccessKeyId'));
      if (found === undefined) throw new Error('no credentials');
      const kind = async (resource: string) => {
        const asked = { principal: found.principal, action: 's3:GetObject', resource, context: {} };
        return (await access.authorize(asked)).kind;
      };
      expect([await kind('reports/a'), await kind('other/a')]).toEqual(['allow', 'deny']);
    });

    it.each(['{', '[]', '{"Statement":[]}', '{"Version":"2012-10-17","Statement":[{"Effect":"Maybe"}]}'])(
      'is refused when it is %s',
      async (Policy) => {
        const rejected = await call({ WebIdentityToken: await annsToken(), Policy });
        expect(rejected).toMatchObject({ status: 400, code: 'MalformedPolicyDocument' });
      },
    );

    it('has at most 2048 characters', async () => {
      const rejected = await call({ WebIdentityToken: await annsToken(), Policy: narrow.padEnd(2_049) });
      expect(rejected).toMatchObject({ status: 400, code: 'InvalidParameterValue' });
    });
  });

  describe('with several providers', () => {
    it('takes the one whose issuer the token names', async () => {
      const list = [settings(staff), settings(partners, { id: 'PARTNERS' })];
      expect(await policiesOf({ WebIdentityToken: await partners.accessToken('pat') }, list)).toEqual(['writeonly']);
    });

    it('takes the one whose role is asked for, in whichever region', async () => {
      const token = await staff.accessToken('ann', {}, 'robots');
      const arn = 'arn:minio:iam:eu-west-1::role/';
      const RoleArn = `${arn}${Buffer.from(await sha1('robots')).toString('base64url')}`;
      expect(await policiesOf({ WebIdentityToken: token, RoleArn }, [settings(staff), role()])).toEqual(['writeonly']);
    });

    it('does not give a role to a token of another client', async () => {
      const RoleArn = `arn:minio:iam:::role/${Buffer.from(await sha1('robots')).toString('base64url')}`;
      expect(await policiesOf({ WebIdentityToken: await annsToken(), RoleArn }, [settings(staff), role()])).toContain(
        'robots',
      );
    });

    it('goes by claims for an unknown ARN, since AWS SDKs must send one', async () => {
      const RoleArn = 'arn:aws:iam::123456789012:role/whatever';
      const parameters = { WebIdentityToken: await annsToken(), RoleArn };
      expect(await policiesOf(parameters, [role(), settings(staff)])).toEqual(['readonly']);
    });
  });

  it('adds the claims of userinfo where that is on', async () => {
    const userinfo = [settings(staff, { claimUserinfo: true })];
    const response = await fetch(`${staff.issuer}/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'password',
        client_id: 'coffer',
        client_secret: 'coffer-secret',
        username: 'ann',
        password: 'ann-password',
      }),
    });
    const { access_token: bearer } = (await response.json()) as { access_token: string };
    const withoutPolicy = await staff.idToken('ann', { policy: undefined });
    const answer = await call({ WebIdentityToken: withoutPolicy, WebIdentityAccessToken: bearer }, userinfo);
    expect(answer.status).toBe(200);
    const rejected = await call({ WebIdentityToken: withoutPolicy, WebIdentityAccessToken: 'wrong' }, userinfo);
    expect(rejected).toMatchObject({ status: 400, code: 'InvalidIdentityToken' });
  });

  it('says why a provider cannot be used now', async () => {
    staff.fail('discovery', { kind: 'status', status: 503 });
    const rejected = await call({ WebIdentityToken: await annsToken() });
    expect(rejected).toMatchObject({ status: 400, code: 'IDPCommunicationError' });
  });

  it('waits for providers that were not asked yet', async () => {
    providers = createOpenIdProviders({ settings: [settings(staff)], region: '', log });
    const assume = createAssumeRoleWithWebIdentity({ providers, access });
    const role = assume({ token: await annsToken() });
    await providers.start();
    expect((await role).credentials.principal.subject).toMatchObject({ policies: ['readonly'] });
  });

  it('asks to try again when the store cannot take the credentials', async () => {
    const serve = await handler([settings(staff)]);
    const body = form({ WebIdentityToken: await annsToken() }).toString();
    store.faults.script('unavailable');
    expect((await serve(request(body))).status).toBe(503);
  });

  it('logs a refused sign-in, and only at the level debug a form that is none', async () => {
    lines.length = 0;
    await call({ Action: 'NoSuchAction' });
    await call({ Action: undefined });
    expect(lines.join()).not.toContain('credentials');
    await call({ WebIdentityToken: 'no token' });
    expect(lines.join()).toContain('no temporary credentials');
  });

  it('writes no token and no secret to the log', async () => {
    const token = await annsToken();
    const { xml } = await call({ WebIdentityToken: token });
    await call({ WebIdentityToken: token, DurationSeconds: '1' });
    const written = lines.join('\n');
    for (const secret of [token, element(xml, 'SecretAccessKey'), element(xml, 'SessionToken'), 'coffer-secret']) {
      expect(secret).not.toBe('');
      expect(written).not.toContain(secret);
    }
    expect(written).toContain(element(xml, 'AccessKeyId'));
  });
});

const role = () => settings(staff, { id: 'ROBOTS', clientId: 'robots', rolePolicy: ['writeonly'] });

/** The policies that were given, or why none were. */
async function policiesOf(parameters: Parameters, list: OpenIdProviderSettings[]) {
  const { xml, message } = await call(parameters, list);
  const found = await access.credentials(element(xml, 'AccessKeyId'));
  return (found && federatedOf(found)?.policies) ?? message;
}

function federatedOf({ principal }: StoredCredentials) {
  const subject = subjectOf(principal);
  return subject?.kind === 'federated' ? subject : undefined;
}

async function sha1(text: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest('SHA-1', new TextEncoder().encode(text));
}
