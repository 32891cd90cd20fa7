import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type AccessService, createCallerVerifier } from '../auth/access.ts';
import { assumeRole, getCallerIdentity, signedCaller } from './assume-role.ts';
import { form, formRequest, rootKeys, serving, signedForm, testAccess, text } from '../../test/support/auth/sts.ts';
import { bodyFrom } from '../objects/contract/body-source.ts';

const ann = { accessKey: 'ann', secretKey: 'ann-secret-key' };
let access: AccessService;
let serve: ReturnType<typeof serving>;
let skewMs: number;
const clock = () => new Date(Date.now() + skewMs);

beforeEach(async () => {
  skewMs = 0;
  access = await testAccess(clock);
  await access.identities.putUser(ann);
  await access.identities.attach({ kind: 'user', name: 'ann' }, ['readonly']);
  const caller = signedCaller(createCallerVerifier({ credentials: access, clock }));
  serve = serving(assumeRole({ ...access, caller, clock }), getCallerIdentity({ caller }));
});

const assume = (parameters: Record<string, string> = {}, keys: Parameters<typeof signedForm>[1] = ann) =>
  serve(signedForm(form({ Action: 'AssumeRole', ...parameters }), keys, clock()));

async function may(accessKey: string, action: string, resource = 'reports/a') {
  const found = await access.credentials(accessKey);
  if (found === undefined) return 'unknown';
  return (await access.authorize({ principal: found.principal, action, resource, context: {} })).kind;
}

const seconds = (xml: string) => Math.round((Date.parse(text(xml, 'Expiration')) - Date.now()) / 1_000);

const whoIs = async (keys: Parameters<typeof signedForm>[1]) =>
  text((await serve(signedForm(form({ Action: 'GetCallerIdentity' }), keys))).xml, 'Arn');

const policy = (effect: string, action: string, more: object = {}) =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Effect: effect, Action: action, Resource: ['arn:aws:s3:::*'], ...more }],
  });

describe('AssumeRole', () => {
  it('gives the rights of the user, as they are at each request', async () => {
    const { status, accessKey } = await assume();
    expect(status).toBe(200);
    expect(await may(accessKey, 's3:GetObject')).toBe('allow');
    expect(await may(accessKey, 's3:PutObject')).toBe('deny');
    await access.identities.attach({ kind: 'user', name: 'ann' }, ['readwrite']);
    expect(await may(accessKey, 's3:PutObject')).toBe('allow');
  });

  it('ends with the user, and rests while they are disabled', async () => {
    const { accessKey } = await assume();
    await access.identities.putUser({ accessKey: 'ann', status: 'disabled' });
    expect(await may(accessKey, 's3:GetObject')).toBe('unknown');
    await access.identities.putUser({ accessKey: 'ann', status: 'enabled' });
    expect(await may(accessKey, 's3:GetObject')).toBe('allow');
    await access.identities.removeUser('ann');
    expect(await may(accessKey, 's3:GetObject')).toBe('unknown');
  });

  it.each([
    ['the address', { IpAddress: { 'aws:SourceIp': '127.0.0.0/8' } }],
    ['the time', { DateGreaterThan: { 'aws:CurrentTime': '2020-01-01T00:00:00Z' } }],
    ['the connection', { Bool: { 'aws:SecureTransport': 'true' } }],
  ])('is refused by a Deny that asks for %s of the request', async (_, Condition) => {
    await access.identities.putPolicy('no-sts', policy('Deny', 'sts:AssumeRole', { Condition }));
    await access.identities.attach({ kind: 'user', name: 'ann' }, ['no-sts']);
    expect((await assume()).status).toBe(403);
  });

  it('narrows by the session policy', async () => {
    const { accessKey } = await assume({ Policy: policy('Allow', 's3:ListBucket') });
    expect(await may(accessKey, 's3:ListBucket', 'reports')).toBe('deny');
    expect(await may(accessKey, 's3:GetObject')).toBe('deny');
  });

  it('lasts an hour, or as long as asked', async () => {
    expect(seconds((await assume()).xml)).toBeCloseTo(3_600, -1);
    expect(seconds((await assume({ DurationSeconds: '31536000' })).xml)).toBeCloseTo(31_536_000, -1);
  });

  it.each(['899', '31536001', '-1', 'soon', '1e3'])('refuses %s seconds', async (DurationSeconds) => {
    expect(await assume({ DurationSeconds })).toMatchObject({ status: 400, code: 'InvalidParameterValue' });
  });

  it('keeps the label by which credentials are revoked together', async () => {
    await assume({ TokenRevokeType: 'ci' });
    await assume();
    expect(await access.temporary.revokeAllOf('user:ann', 'ci')).toBe(1);
    expect(await access.temporary.revokeAllOf('user:ann')).toBe(1);
  });

  it('serves root too, and names its rights', async () => {
    const { accessKey } = await assume({}, rootKeys);
    expect(await may(accessKey, 's3:PutObject')).toBe('allow');
  });

  it('is not for temporary credentials', async () => {
    const { credentials } = await assume();
    expect(await assume({}, credentials)).toMatchObject({ status: 403, code: 'AccessDenied' });
  });

  it('is not for service accounts', async () => {
    const account = await access.identities.createServiceAccount({ subject: { kind: 'user', name: 'ann' } });
    expect(await assume({}, account)).toMatchObject({ status: 403, code: 'AccessDenied' });
  });

  it('can be denied by a policy, and by its condition alone', async () => {
    const long = { Condition: { NumericGreaterThan: { 'sts:DurationSeconds': '3600' } } };
    await access.identities.putPolicy('short', policy('Deny', 'sts:AssumeRole', long));
    await access.identities.attach({ kind: 'user', name: 'ann' }, ['short']);
    expect(await assume({ DurationSeconds: '3601' })).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(await assume({ DurationSeconds: '3600' })).toMatchObject({ status: 200 });
    await access.identities.putPolicy('short', policy('Deny', 'sts:*'));
    expect(await assume()).toMatchObject({ status: 403, code: 'AccessDenied' });
  });
});

describe('the signature', () => {
  it.each([
    ['with a wrong secret', { ...ann, secretKey: 'another-secret' }, 'SignatureDoesNotMatch'],
    ['of nobody', { accessKey: 'nobody', secretKey: 'another-secret' }, 'InvalidClientTokenId'],
  ])('%s is refused', async (_, keys, code) => {
    expect(await assume({}, keys)).toMatchObject({ status: 403, code });
  });

  it('is needed', async () => {
    const rejected = await serve(formRequest(form({ Action: 'AssumeRole' })));
    expect(rejected).toMatchObject({ status: 403, code: 'AccessDenied' });
  });

  it('covers the form', async () => {
    const signed = signedForm(form({ Action: 'AssumeRole', DurationSeconds: '900' }), ann);
    const other = bodyFrom(Readable.from([Buffer.from(form({ Action: 'AssumeRole', DurationSeconds: '31536000' }))]));
    expect(await serve({ ...signed, body: other })).toMatchObject({ status: 403, code: 'AccessDenied' });
    const { 'x-amz-content-sha256': _, ...headers } = signed.headers;
    const without = {
      ...signed,
      headers,
      body: bodyFrom(Readable.from([Buffer.from('Action=AssumeRole&Version=2011-06-15')])),
    };
    expect(await serve(without)).toMatchObject({ status: 403 });
  });

  it('is no good when it is old', async () => {
    const signed = signedForm(form({ Action: 'AssumeRole' }), ann);
    skewMs = 20 * 60_000;
    expect(await serve(signed)).toMatchObject({
      status: 403,
      code: 'RequestTimeTooSkewed',
      message: expect.stringMatching(/request time \(\S+Z\) and the current time \(\S+Z\)/) as string,
    });
  });

  it.each(['PolicyArns.member.1.arn', 'Tags.member.1.Key', 'TransitiveTagKeys.member.1', 'ProvidedContexts.member.1'])(
    'refuses %s, which would be a bound that nobody keeps',
    async (name) => {
      expect(await assume({ [name]: 'a' })).toMatchObject({ status: 501, code: 'NotImplemented' });
    },
  );

  it('needs the session token of temporary credentials, and its expiry is told', async () => {
    const { credentials } = await assume({ DurationSeconds: '900' });
    const who = form({ Action: 'GetCallerIdentity' });
    expect(await serve(signedForm(who, credentials))).toMatchObject({ status: 200 });
    expect(await serve(signedForm(who, { ...credentials, sessionToken: 'x' }))).toMatchObject({
      code: 'InvalidClientTokenId',
    });
    skewMs = 901_000;
    expect(await serve(signedForm(who, credentials, clock()))).toMatchObject({ code: 'ExpiredToken' });
  });
});

describe('GetCallerIdentity', () => {
  it('says who signs', async () => {
    expect(await whoIs(rootKeys)).toBe('arn:aws:iam::000000000000:root');
    expect(await whoIs(ann)).toBe('arn:aws:iam::000000000000:user/ann');
    expect(await whoIs((await assume()).credentials)).toBe('arn:aws:sts::000000000000:assumed-role/user/ann');
  });
});

describe('any request', () => {
  const name = fc.constantFrom('Action', 'Version', 'DurationSeconds', 'Policy', 'Token', 'RoleArn', 'TokenRevokeType');
  const value = fc.oneof(
    fc.constantFrom('AssumeRole', 'GetCallerIdentity', '2011-06-15', '3600', '{}', ''),
    fc.string(),
  );
  const pairs = fc.array(fc.tuple(fc.oneof(name, fc.string()), value), { maxLength: 8 });

  it('is answered by XML of STS, and never by a failure', async () => {
    await fc.assert(
      fc.asyncProperty(pairs, fc.boolean(), fc.boolean(), async (parameters, inQuery, signed) => {
        const text = new URLSearchParams(parameters).toString();
        const base = signed ? signedForm(text, ann) : formRequest(text);
        const { status, xml } = await serve(inQuery ? { ...base, rawQuery: text } : base);
        expect(status).toBeLessThan(500);
        expect(xml).toMatch(
          /^<\?xml[^>]*>\n<(ErrorResponse|AssumeRoleResponse|GetCallerIdentityResponse) xmlns="https:\/\/sts\./,
        );
      }),
      { numRuns: 200 },
    );
  });

  it('may hold any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const told = await serve({ ...formRequest(''), body: bodyFrom(Readable.from([Buffer.from(bytes)])) });
        expect(told.status).toBe(400);
      }),
      { numRuns: 100 },
    );
  });
});
