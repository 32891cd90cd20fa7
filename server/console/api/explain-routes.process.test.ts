import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OpenIdProviderDouble } from '../../../test/support/openid/openid-provider.ts';
import type { ErrorAnswer } from '../../../protocol/console/answers.ts';
import type { DecisionAnswer, ExplainAnswer } from '../../../protocol/console/explain-answers.ts';
import { TestBrowser, TestConsole } from '../../../test/support/console/test-console.ts';

let provider: OpenIdProviderDouble;
let console: TestConsole;
let root: TestBrowser;

beforeEach(async () => {
  provider = await OpenIdProviderDouble.start();
  console = await TestConsole.start({ openid: [{ id: 'DEMO', configUrl: provider.configUrl }] });
  root = new TestBrowser(console.url);
  await root.signIn();
});
afterEach(async () => {
  await console.close();
  await provider.close();
});

const ask = (question: object) =>
  root.send('POST', '/api/explain', { json: { action: 's3:GetObject', resource: 'docs/a.txt', ...question } });
const explained = async (question: object) => (await (await ask(question)).json()) as ExplainAnswer;
const decision = async (question: object) => (await explained(question)) as DecisionAnswer;
const ann = { kind: 'name', name: 'ann' };
const withClaims = (claims: object) => ({ who: { kind: 'claims', provider: 'DEMO', claims } });

const from = async (ip: string) => (await decision({ who: ann, context: { 'aws:SourceIp': [ip] } })).effect;

const rejected = async (question: object) => {
  const response = await ask(question);
  return { status: response.status, ...((await response.json()) as ErrorAnswer) };
};

describe('an explanation', () => {
  it('names the statement that decided, and the attachment of its policy', async () => {
    await root.send('POST', '/api/groups', { json: { name: 'staff', policies: ['readonly'] } });
    await root.send('POST', '/api/users', { json: { name: 'ann', policies: ['writeonly'], groups: ['staff'] } });
    expect(await decision({ who: ann })).toMatchObject({
      kind: 'decision',
      who: 'ann',
      effect: 'allow',
      decidedBy: [{ source: 'identity', policy: 'readonly', statement: '#1' }],
      missing: [],
      policies: [
        {
          policy: 'writeonly',
          effect: 'none',
          through: ['the user ann'],
          statements: [{ applied: false, obstacle: 'Action is "s3:PutObject", not s3:GetObject' }],
        },
        { policy: 'readonly', effect: 'allow', through: ['the group staff'], statements: [{ applied: true }] },
      ],
    });
  });

  it('distinguishes an explicit from an implicit deny', async () => {
    const document = JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Sid: 'NotThese', Effect: 'Deny', Action: 's3:*', Resource: 'arn:aws:s3:::docs/*' }],
    });
    await root.send('PUT', '/api/policy?name=not-docs', { json: { document } });
    await root.send('POST', '/api/users', { json: { name: 'ann', policies: ['readwrite', 'not-docs'] } });
    expect(await decision({ who: ann })).toMatchObject({
      effect: 'deny',
      decidedBy: [{ policy: 'not-docs', statement: 'NotThese' }],
    });
    expect(await decision({ who: ann, action: 'admin:ServerInfo', resource: '' })).toMatchObject({
      effect: 'deny',
      decidedBy: [],
    });
  });

  it('includes the policy that restricts an access key', async () => {
    const policy = JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: 's3:ListBucket', Resource: '*' }],
    });
    await root.send('POST', '/api/users', { json: { name: 'ann', policies: ['readwrite'] } });
    const key = { owner: 'ann', accessKey: 'narrowed-key', secretKey: 'narrowed-secret', policy };
    await root.send('POST', '/api/access-keys', { json: key });
    const { effect, policies } = await decision({ who: { kind: 'name', name: 'narrowed-key' } });
    expect(effect).toBe('deny');
    expect(policies.map(({ source }) => source)).toEqual(['identity', 'boundary']);
  });

  it('uses condition keys of the request', async () => {
    const document = JSON.stringify({
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Action: 's3:*',
          Resource: '*',
          Condition: { IpAddress: { 'aws:SourceIp': '192.0.2.0/24' } },
        },
      ],
    });
    await root.send('PUT', '/api/policy?name=office', { json: { document } });
    await root.send('POST', '/api/users', { json: { name: 'ann', policies: ['office'] } });
    expect([await from('192.0.2.7'), await from('203.0.113.7')]).toEqual(['allow', 'deny']);
  });

  it('explains the rights of a user with these claims, and names policies that do not exist', async () => {
    const answer = await decision(withClaims({ sub: '1', preferred_username: 'alice', policy: ['readonly', 'gone'] }));
    expect(answer).toMatchObject({
      who: 'alice (DEMO)',
      effect: 'allow',
      missing: ['gone'],
      policies: [{ policy: 'readonly', through: ['the claim or role of the provider'] }],
    });
  });

  it('includes policies that are attached to claims', async () => {
    const holder = { kind: 'claim', provider: 'DEMO', claim: 'groups', value: 'research-*' };
    await root.send('POST', '/api/policy/attach?name=readonly', { json: holder });
    expect(await decision(withClaims({ sub: '1', groups: ['research-lab'] }))).toMatchObject({
      effect: 'allow',
      policies: [{ policy: 'readonly', through: ['the claim groups=research-* of DEMO'] }],
    });
  });

  it('says why STS would issue no credentials: the expected claim, the claims, missing policies', async () => {
    const without = await explained(withClaims({ sub: '1', email: 'a@example.org' }));
    expect(without).toMatchObject({ kind: 'not-let-in' });
    expect(without).toMatchObject({ message: expect.stringMatching(/claim "policy" is missing.*claims: email, sub/) });
    const undefinedOnes = await explained(withClaims({ sub: '1', policy: 'gone' }));
    expect(undefinedOnes).toMatchObject({ message: expect.stringContaining('`gone`') });
  });

  it('of an unknown user is refused with a message', async () => {
    expect(await rejected({ who: ann })).toMatchObject({ status: 404, message: expect.stringContaining('"ann"') });
    expect(await rejected(withClaims({ policy: 'readonly' }))).toMatchObject({ status: 400, field: 'claims' });
    const elsewhere = { who: { kind: 'claims', provider: 'OTHER', claims: { sub: '1' } } };
    expect(await rejected(elsewhere)).toMatchObject({ status: 404, field: 'provider' });
    await root.send('POST', '/api/users', { json: { name: 'ann' } });
    await root.send('PUT', '/api/user/status?name=ann', { json: { status: 'disabled' } });
    expect(await rejected({ who: ann })).toMatchObject({ status: 409, message: expect.stringContaining('disabled') });
  });
});
