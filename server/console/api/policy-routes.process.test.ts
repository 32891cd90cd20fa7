import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ErrorAnswer } from '../../../protocol/console/answers.ts';
import type {
  CheckedDocument,
  PolicyAnswer,
  PolicyList,
  PolicyNames,
  PolicyRow,
} from '../../../protocol/console/identity-answers.ts';
import { TestBrowser, TestConsole } from '../../../test/support/console/test-console.ts';

let console: TestConsole;
let root: TestBrowser;

beforeEach(async () => {
  console = await TestConsole.start();
  root = new TestBrowser(console.url);
  await root.signIn();
});
afterEach(() => console.close());

const json = async <Answer>(response: Response) => (await response.json()) as Answer;
const error = async (response: Response) => ({ status: response.status, ...(await json<ErrorAnswer>(response)) });
const documentOf = (action: string) =>
  JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: action, Resource: '*' }] });
const save = (name: string, document: string, expects?: string | null) =>
  root.send('PUT', `/api/policy?${new URLSearchParams({ name }).toString()}`, {
    json: { document, ...(expects === undefined ? {} : { expects }) },
  });
const policyOf = async (name: string) =>
  json<PolicyAnswer>(await root.send('GET', `/api/policy?${new URLSearchParams({ name }).toString()}`));

const check = (document: string) => root.send('POST', '/api/policy-check', { json: { document } });

const ofBucket = (bucket: string, principal: string) =>
  root.send('POST', '/api/policy-check', {
    json: {
      bucket,
      document: JSON.stringify({
        Version: '2012-10-17',
        Statement: [
          { Effect: 'Allow', Principal: { AWS: [principal] }, Action: 's3:GetObject', Resource: 'arn:aws:s3:::docs/*' },
        ],
      }),
    },
  });

const refusedHolder = async (holder: object) =>
  error(await root.send('POST', '/api/policy/attach?name=readonly', { json: holder }));

describe('policies', () => {
  it('have names that the editor suggests', async () => {
    const names = await json<PolicyNames>(await root.send('GET', '/api/policy-names'));
    expect(names.actions).toContain('s3:GetObject');
    expect(names.keys).toContain('aws:SourceIp');
    expect(names.operators).toContain('StringLike');
  });

  it('are listed, with built-in ones and their replacements marked', async () => {
    await save('readonly', documentOf('s3:GetObject'));
    const { policies } = await json<PolicyList>(await root.send('GET', '/api/policies'));
    const kinds = Object.fromEntries(policies.map(({ name, kind }) => [name, kind]));
    expect(kinds).toMatchObject({ readonly: 'replaced', readwrite: 'built-in', tidier: 'stored' });
  });

  it('of buckets are checked as such: with principals, and for the bucket alone', async () => {
    const { content } = await json<CheckedDocument>(await ofBucket('docs', 'arn:aws:iam:::user/ann'));
    expect(content).toMatchObject([{ effect: 'Allow', principals: ['arn:aws:iam:::user/ann'] }]);
    expect((await ofBucket('other', '*')).status).toBe(400);
  });

  it('keep their earlier versions, the newest first', async () => {
    await save('mine', documentOf('s3:GetObject'));
    console.advance(60_000);
    await save('mine', documentOf('s3:PutObject'));
    console.advance(60_000);
    await save('mine', documentOf('s3:DeleteObject'));
    const { document, earlier, content } = await policyOf('mine');
    expect(document).toContain('s3:DeleteObject');
    expect(earlier.map((one) => one.document)).toEqual([documentOf('s3:PutObject'), documentOf('s3:GetObject')]);
    expect(content).toMatchObject([{ effect: 'Allow', actions: { patterns: ['s3:DeleteObject'] } }]);
  });

  it('are not overwritten by a form that is older than the saved version', async () => {
    const { updatedAt = '' } = await json<PolicyRow>(await save('mine', documentOf('s3:GetObject'), null));
    console.advance(60_000);
    expect((await save('mine', documentOf('s3:PutObject'), updatedAt)).status).toBe(200);
    expect(await error(await save('mine', documentOf('s3:*'), updatedAt))).toMatchObject({
      status: 409,
      field: 'name',
    });
    expect((await policyOf('mine')).document).toContain('s3:PutObject');
  });

  it('are not overwritten by a new one of the same name', async () => {
    await save('mine', documentOf('s3:GetObject'), null);
    expect(await error(await save('mine', documentOf('s3:*'), null))).toMatchObject({ status: 409, field: 'name' });
  });

  it('are checked while they are edited, for every user', async () => {
    const { content } = await json<CheckedDocument>(await check(documentOf('s3:GetObject')));
    expect(content).toMatchObject([{ effect: 'Allow' }]);
    const wrong = documentOf('s3:GetObject').replace('Effect', 'Efect');
    expect(await error(await check(wrong))).toMatchObject({ status: 400, code: 'MalformedPolicy', field: 'policy' });
    expect((await error(await check(wrong))).message).toContain('Efect');
    expect((await error(await check('{'))).message).toContain('not valid JSON');
  });

  it('list their holders', async () => {
    await root.send('POST', '/api/users', { json: { name: 'ann', policies: ['readonly'] } });
    const claim = { kind: 'claim', provider: 'P', claim: 'sub', value: 'system:*' };
    const attach = (holder: object) => root.send('POST', '/api/policy/attach?name=readonly', { json: holder });
    expect((await attach(claim)).status).toBe(204);
    expect((await policyOf('readonly')).holders).toEqual([claim, { kind: 'user', name: 'ann' }]);
    const gone = await root.send('POST', '/api/policy/detach?name=readonly', { json: { kind: 'user', name: 'ann' } });
    expect(gone.status).toBe(204);
    expect((await policyOf('readonly')).holders).toEqual([claim]);
  });

  it('are not attached to a mistyped name', async () => {
    expect(await refusedHolder({ kind: 'user', name: 'nobody' })).toMatchObject({ status: 404, field: 'name' });
    expect(await refusedHolder({ kind: 'group', name: 'nobody' })).toMatchObject({ status: 404, field: 'name' });
    expect(await refusedHolder({ kind: 'ldap-group', name: 'staff' })).toMatchObject({ status: 400, field: 'name' });
    expect((await refusedHolder({ kind: 'ldap-user', name: 'ann' })).message).toContain('No directory is configured');
  });

  it('are attached to a group of a directory by its distinguished name', async () => {
    const holder = { kind: 'ldap-group', name: 'CN=Staff, DC=example, DC=org' };
    expect((await root.send('POST', '/api/policy/attach?name=readonly', { json: holder })).status).toBe(204);
    expect((await policyOf('readonly')).holders).toMatchObject([{ kind: 'ldap-group' }]);
    expect((await root.send('POST', '/api/policy/detach?name=readonly', { json: holder })).status).toBe(204);
  });

  it('are not deleted while they are attached; the error names the holders', async () => {
    await save('mine', documentOf('s3:GetObject'));
    await root.send('POST', '/api/users', { json: { name: 'ann', policies: ['mine'] } });
    const rejected = await error(await root.send('DELETE', '/api/policy?name=mine'));
    expect(rejected.message).toContain('the user ann');
    await root.send('DELETE', '/api/user?name=ann');
    expect((await root.send('DELETE', '/api/policy?name=mine')).status).toBe(204);
  });
});
