import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Credentials } from '../../protocol/sigv4/credentials.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { runCoffer } from '../support/server/run-coffer.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { directorySettings, removeSlapd, type Slapd, startSlapd, suffix } from './start-slapd.ts';
import { ann, bob, lee, people, readers } from './people.ts';

let slapd: Slapd;
let server: RunningServer;
let root: Credentials;

beforeAll(async () => {
  slapd = await startSlapd(people);
  server = await startServer({
    env: {
      ...directorySettings(slapd),
      SVC_THREADS: '2',
    },
  });
  root = { accessKey: server.accessKey, secretKey: server.secretKey };
  await untilReady(server);
  const client = s3(root);
  await client.send(new CreateBucketCommand({ Bucket: 'home' }));
  await client.send(new PutObjectCommand({ Bucket: 'home', Key: 'ann/a', Body: 'hello' }));
  client.destroy();
}, 180_000);
afterAll(async () => {
  await server?.stop();
  await removeSlapd(slapd);
});

const attach = (sent: object) => adminCall(server.s3, root, 'POST', 'idp/ldap/policy/attach', sent);
const detach = (sent: object) => adminCall(server.s3, root, 'POST', 'idp/ldap/policy/detach', sent);

function s3({ accessKey, secretKey, sessionToken }: Credentials): S3Client {
  return new S3Client({
    endpoint: server.s3,
    region: 'us-east-1',
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: {
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
    },
  });
}

async function may(keys: Credentials, command: 'get' | 'put', key = 'ann/a'): Promise<string> {
  const client = s3(keys);
  try {
    if (command === 'get') await client.send(new GetObjectCommand({ Bucket: 'home', Key: key }));
    else await client.send(new PutObjectCommand({ Bucket: 'home', Key: key, Body: 'x' }));
    return 'allowed';
  } catch (error) {
    return (error as Error).name;
  } finally {
    client.destroy();
  }
}

async function assume(LDAPUsername: string, LDAPPassword: string, more: Record<string, string> = {}) {
  const form = { Action: 'AssumeRoleWithLDAPIdentity', Version: '2011-06-15', LDAPUsername, LDAPPassword, ...more };
  const answer = await fetch(server.s3, { method: 'POST', body: new URLSearchParams(form) });
  const xml = await answer.text();
  const of = (name: string) => new RegExp(`<${name}>([^<]*)<`).exec(xml)?.[1] ?? '';
  const keys = { accessKey: of('AccessKeyId'), secretKey: of('SecretAccessKey'), sessionToken: of('SessionToken') };
  return { status: answer.status, code: of('Code'), message: of('Message'), keys };
}

const login = (input: string, ...more: string[]) =>
  runCoffer(['--json', 'idp', 'ldap', 'accesskey', 'create-with-login', server.s3, ...more], { input });

const revoke = (query: string, keys = root) =>
  adminCall(server.s3, keys, 'POST', `revoke-tokens/ldap?${query}`).then(({ status }) => status);

beforeEach(async () => {
  await detach({ policies: ['readonly'], group: readers });
  await detach({ policies: ['readwrite'], user: ann });
});

describe('AssumeRoleWithLDAPIdentity', () => {
  it('needs something attached, and says what it looked for', async () => {
    const rejected = await assume('ann', 'ann-password');
    expect(rejected).toMatchObject({ status: 400, code: 'InvalidParameterValue' });
    expect(rejected.message).toContain(`the LDAP user ${ann}, nor to a group of theirs (${readers.toLowerCase()})`);
  });

  it('gives what is attached to a group, and to the person, as it is at each request', async () => {
    expect(await attach({ policies: ['readonly'], group: readers.toUpperCase() })).toMatchObject({
      status: 200,
      value: { policiesAttached: ['readonly'] },
    });
    const { status, keys } = await assume('ann', 'ann-password');
    expect(status).toBe(200);
    expect([await may(keys, 'get'), await may(keys, 'put')]).toEqual(['allowed', 'AccessDenied']);
    expect(await attach({ policies: ['readwrite'], user: 'ann' })).toMatchObject({ status: 200 });
    expect(await may(keys, 'put')).toBe('allowed');
    await detach({ policies: ['readonly'], group: readers });
    await detach({ policies: ['readwrite'], user: ann });
    expect(await may(keys, 'get')).toBe('AccessDenied');
  });

  it('knows name and DN in policies', async () => {
    const document = {
      Version: '2012-10-17',
      // oxlint-disable-next-line no-template-curly-in-string -- a variable of policies
      Statement: [{ Effect: 'Allow', Action: ['s3:PutObject'], Resource: ['arn:aws:s3:::home/${ldap:username}/*'] }],
    };
    const Policy = JSON.stringify(document);
    await attach({ policies: ['readwrite'], user: ann });
    const { keys } = await assume('ann', 'ann-password', { Policy });
    expect([await may(keys, 'put', 'ann/b'), await may(keys, 'put', 'bob/b')]).toEqual(['allowed', 'AccessDenied']);
  });

  it.each([
    ['ann', 'wrong', 403, 'AccessDenied'],
    ['nobody', 'x', 403, 'AccessDenied'],
    ['ann', '', 400, 'MissingParameter'],
    ['*', 'ann-password', 403, 'AccessDenied'],
  ])('refuses %s with %j', async (name, password, status, code) => {
    expect(await assume(name, password)).toMatchObject({ status, code });
    expect(server.log.some((line) => line.includes('ann-password'))).toBe(false);
  });

  it('says that the directory cannot be asked, and what it gave goes on', async () => {
    await attach({ policies: ['readwrite'], user: ann });
    const { keys } = await assume('ann', 'ann-password');
    await slapd.stop();
    expect(await assume('ann', 'ann-password')).toMatchObject({ status: 400, code: 'IDPCommunicationError' });
    expect(await may(keys, 'get')).toBe('allowed');
    await slapd.start();
  });
});

describe('the admin API of the directory', () => {
  it('refuses whom the directory does not know', async () => {
    expect(await attach({ policies: ['readonly'], user: 'nobody' })).toMatchObject({ status: 404 });
    expect(await attach({ policies: ['readonly'], user: `uid=nobody,ou=people,${suffix}` })).toMatchObject({
      status: 404,
    });
    expect(await attach({ policies: ['readonly'], group: 'staff' })).toMatchObject({ status: 400 });
  });

  it('lists what is attached', async () => {
    await attach({ policies: ['readonly'], user: lee });
    const query = new URLSearchParams({ user: lee, policy: 'readonly' });
    const { value } = await adminCall(server.s3, root, 'GET', `idp/ldap/policy-entities?${query.toString()}`);
    expect(value).toMatchObject({
      userMappings: [{ user: lee.toLowerCase(), policies: ['readonly'] }],
      policyMappings: [{ policy: 'readonly', users: [lee.toLowerCase()], groups: null }],
    });
    await detach({ policies: ['readonly'], user: lee });
  });

  it('is tested with a person by our own client', async () => {
    await attach({ policies: ['readonly'], group: readers });
    const folder = await mkdtemp(join(tmpdir(), 'coffer-ldap-'));
    const coffer = (...args: string[]) => runCoffer(['--config-dir', folder, ...args]);
    await coffer('alias', 'set', 's', server.s3, root.accessKey, root.secretKey);
    const good = await coffer('idp', 'ldap', 'test', 's', 'ann');
    expect([good.code, good.stdout.toString()]).toEqual([0, expect.stringMatching(/✔ User +ann is[^]*✔ Policies/)]);
    const bad = await coffer('idp', 'ldap', 'test', 's', 'nobody');
    expect([bad.code, bad.stdout.toString()]).toEqual([1, expect.stringContaining('✘ User')]);
    await rm(folder, { recursive: true });
    const { status } = await adminCall(server.s3, root, 'POST', '/minio/admin/coffer/v1/ldap-test', { user: 'ann' });
    expect(status).toBe(400);
  });

  it('makes access keys by a login with our own client, without an alias', async () => {
    await attach({ policies: ['readwrite'], user: ann });
    const made = await login('ann\nann-password\nsecret-of-the-key\n', '--name', 'laptop', '--secret-key', '-');
    expect([made.code, made.stderr]).toEqual([0, '']);
    const keys = JSON.parse(made.stdout.toString()) as Credentials;
    expect(keys).toMatchObject({ status: 'success', name: 'laptop', secretKey: 'secret-of-the-key' });
    expect(await may(keys, 'put')).toBe('allowed');
    const rejected = await login('ann\nwrong-password\n', '--debug');
    expect([rejected.code, rejected.stdout.toString()]).toEqual([1, expect.stringContaining('AccessDenied')]);
    expect(rejected.stdout.toString() + rejected.stderr).not.toContain('wrong-password');
    expect((await login('ann\n')).stdout.toString()).toContain('needs a name and a password');
    await detach({ policies: ['readwrite'], user: ann });
  });

  it('makes access keys for people, with their rights', async () => {
    await attach({ policies: ['readwrite'], user: ann });
    const made = await adminCall(server.s3, root, 'PUT', 'idp/ldap/add-service-account', { targetUser: 'ann' });
    expect(made.status).toBe(200);
    const { credentials } = made.value as { credentials: Credentials };
    expect(await may(credentials, 'put')).toBe('allowed');
    const { keys } = await assume('ann', 'ann-password');
    expect(await adminCall(server.s3, keys, 'PUT', 'idp/ldap/add-service-account', {})).toMatchObject({ status: 200 });
    const forBob = await adminCall(server.s3, keys, 'PUT', 'idp/ldap/add-service-account', { targetUser: bob });
    expect(forBob.status).toBe(403);
  });

  it('ends all credentials of a person, or those of a label', async () => {
    await attach({ policies: ['readwrite'], user: ann });
    const [plain, labelled] = [
      await assume('ann', 'ann-password'),
      await assume('ann', 'ann-password', { TokenRevokeType: 'ci' }),
    ];
    const user = encodeURIComponent(ann.toUpperCase());
    expect(await revoke(`user=${user}`)).toBe(400);
    expect(await revoke(`user=${user}&tokenRevokeType=ci&fullRevoke=true`)).toBe(400);
    expect(await revoke(`user=${encodeURIComponent(bob)}&fullRevoke=true`, plain.keys)).toBe(403);
    expect(await revoke(`user=${user}&tokenRevokeType=ci`)).toBe(204);
    expect([await may(plain.keys, 'get'), await may(labelled.keys, 'get')]).toEqual(['allowed', 'InvalidAccessKeyId']);
    expect(await revoke('fullRevoke=true', plain.keys)).toBe(204);
    expect(await may(plain.keys, 'get')).toBe('InvalidAccessKeyId');
  });
});
