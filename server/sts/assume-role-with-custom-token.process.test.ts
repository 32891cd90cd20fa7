import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AccessService } from '../auth/access.ts';
import { assumeRoleWithCustomToken, askPlugin } from './assume-role-with-custom-token.ts';
import { form, formRequest, serving, testAccess, text } from '../../test/support/auth/sts.ts';

let plugin: Server;
let url: string;
let access: AccessService;
let asked: { readonly token: string | null; readonly authorization: string | undefined }[];
let answer: { status: number; body: string };

const atEpoch = () => new Date(0);

const good = { user: 'ann', maxValiditySeconds: 7_200, claims: { email: 'ann@example.org', level: 7, Team: 'a' } };

beforeAll(async () => {
  plugin = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://plugin');
    asked.push({ token: searchParams.get('token'), authorization: request.headers.authorization });
    response.writeHead(request.method === 'POST' ? answer.status : 405, { 'content-type': 'application/json' });
    response.end(answer.body);
  });
  await new Promise<void>((resolve) => {
    plugin.listen(0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(plugin.address() as AddressInfo).port}/check?tenant=a`;
});
afterAll(() => plugin.close());
beforeEach(async () => {
  asked = [];
  answer = { status: 200, body: JSON.stringify(good) };
  access = await testAccess();
});

async function assume(
  parameters: Record<string, string | undefined> = {},
  changes: { url?: string; policies?: string[] } = {},
) {
  const { url: address = url, policies = ['readonly', 'gone'] } = changes;
  const settings = { url: address, authToken: 'Bearer secret', rolePolicy: policies, roleId: 'external' };
  const plugged = { settings, ask: askPlugin(settings) };
  const serve = serving(assumeRoleWithCustomToken({ ...access, plugin: plugged, region: '', clock: () => new Date() }));
  const all = { Action: 'AssumeRoleWithCustomToken', Token: 't&k=n', RoleArn: 'arn:minio:iam:::role/idmp-external' };
  return serve(formRequest('', { rawQuery: form({ ...all, ...parameters }) }));
}

describe('AssumeRoleWithCustomToken', () => {
  it('asks the plugin whose the token is, and gives the policies of its role', async () => {
    const { status, xml, accessKey } = await assume();
    expect(status).toBe(200);
    expect(asked).toEqual([{ token: 't&k=n', authorization: 'Bearer secret' }]);
    expect(text(xml, 'AssumedUser')).toBe('custom:ann');
    expect((await access.credentials(accessKey))?.principal).toMatchObject({
      subject: { source: 'custom', parent: 'custom:ann', policies: ['readonly'] },
    });
  });

  it('keeps all claims of the plugin for policies, as those of a token', async () => {
    const { accessKey } = await assume();
    const principal = (await access.credentials(accessKey))?.principal;
    expect(principal).toMatchObject({
      subject: { claims: { email: 'ann@example.org', level: null, Team: 'a' }, claimsKept: 'all' },
    });
  });

  it.each([
    ['an hour', undefined, 3_600],
    ['what is asked', '900', 900],
    ['no longer than the plugin says', '86400', 7_200],
  ])('lasts %s', async (_, DurationSeconds, seconds) => {
    const { xml } = await assume({ DurationSeconds });
    expect((Date.parse(text(xml, 'Expiration')) - Date.now()) / 1_000).toBeCloseTo(seconds, -1);
  });

  it('asks the plugin of no more wrong tokens than a hundred a minute from an address', async () => {
    answer = { status: 403, body: '{"reason":"unknown"}' };
    const settings = { url, rolePolicy: ['readonly'], roleId: 'external' };
    const plugged = { settings, ask: askPlugin(settings) };
    const serve = serving(assumeRoleWithCustomToken({ ...access, plugin: plugged, region: '', clock: atEpoch }));
    const parameters = { Action: 'AssumeRoleWithCustomToken', RoleArn: 'arn:minio:iam:::role/idmp-external' };
    const send = (remoteAddress: string) =>
      serve(formRequest('', { rawQuery: form({ ...parameters, Token: 'guess' }), remoteAddress }));
    for (let time = 0; time < 100; time += 1) await send('192.0.2.1');
    expect(await send('192.0.2.1')).toMatchObject({ status: 429, code: 'Throttling' });
    expect(asked).toHaveLength(100);
    expect((await send('192.0.2.2')).code).toBe('AccessDenied');
  });

  it('tells the reason of a refusal', async () => {
    answer = { status: 403, body: '{"reason":"the token is stale"}' };
    const rejected = await assume();
    expect(rejected).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(rejected.message).toContain('the token is stale');
  });

  it('tells no token that the plugin repeats in its reason', async () => {
    answer = { status: 403, body: '{"reason":"nobody has t&k=n"}' };
    expect((await assume()).message).toBe('The identity plugin refuses the token: nobody has …');
  });

  it.each([
    [500, ''],
    [200, 'hello'],
    [200, '{}'],
    [200, JSON.stringify({ ...good, user: '' })],
    [200, JSON.stringify({ ...good, maxValiditySeconds: 899 })],
    [200, JSON.stringify({ ...good, maxValiditySeconds: 'x' })],
    [200, JSON.stringify({ ...good, claims: [] })],
    [302, ''],
    [400, '{"reason":"bad request"}'],
    [403, '<html>forbidden</html>'],
    [404, '<html>not found</html>'],
    [429, ''],
    [200, 'x'.repeat(100_000)],
  ])('gives nothing when the plugin answers %i %s', async (status, body) => {
    answer = { status, body };
    expect(await assume()).toMatchObject({ status: 400, code: 'IDPCommunicationError' });
  });

  it('says that the plugin does not answer', async () => {
    expect(await assume({}, { url: 'http://127.0.0.1:1/' })).toMatchObject({
      status: 400,
      code: 'IDPCommunicationError',
    });
  });

  it('calls no plugin for another role, or without one', async () => {
    expect(await assume({ RoleArn: 'arn:minio:iam:::role/idmp-other' })).toMatchObject({
      code: 'InvalidParameterValue',
    });
    expect(await assume({ RoleArn: undefined })).toMatchObject({ code: 'MissingParameter' });
    expect(await assume({ Token: undefined })).toMatchObject({ code: 'MissingParameter' });
    expect(await assume({}, { policies: ['gone'] })).toMatchObject({ code: 'InvalidParameterValue' });
    expect(asked).toEqual([]);
  });

  it('names the settings where there is no plugin', async () => {
    const serve = serving(assumeRoleWithCustomToken({ ...access, region: '', clock: () => new Date() }));
    const rejected = await serve(formRequest(form({ Action: 'AssumeRoleWithCustomToken', Token: 't', RoleArn: 'r' })));
    expect(rejected.message).toContain('SVC_IDENTITY_PLUGIN_URL');
  });
});
