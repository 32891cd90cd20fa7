import { beforeEach, describe, expect, it } from 'vitest';
import { adminTest } from '../../test/support/admin/admin.ts';

let test: Awaited<ReturnType<typeof adminTest>>;
const path = '/minio/admin/coffer/v1/explain';

beforeEach(async () => {
  test = await adminTest();
  await test.identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
  const policy = {
    Version: '2012-10-17',
    Statement: [
      { Sid: 'Read', Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::b/*'] },
      {
        Sid: 'Home',
        Effect: 'Deny',
        Action: ['s3:*'],
        Resource: ['arn:aws:s3:::b/*'],
        Condition: { NotIpAddress: { 'aws:SourceIp': ['10.0.0.0/8'] } },
      },
    ],
  };
  await test.identities.putPolicy('p', JSON.stringify(policy));
  await test.identities.attach({ kind: 'user', name: 'ann' }, ['p']);
});

describe('an explanation', () => {
  it('tells the decision, each statement, and the same as text', async () => {
    const plain = {
      user: 'ann',
      action: 's3:GetObject',
      resource: 'b/key',
      context: { 'aws:SourceIp': '192.0.2.1' },
    };
    const { status, value } = await test.call('root', 'POST', path, { plain: JSON.stringify(plain) });
    expect(status).toBe(200);
    expect(value).toMatchObject({
      user: 'ann',
      who: 'ann',
      effect: 'deny',
      cause: 'denied',
      policies: [{ policy: 'p', effect: 'deny', statements: [{ statement: 'Read' }, { statement: 'Home' }] }],
      missing: [],
      text: expect.stringMatching(/^DENIED +s3:GetObject on "b\/key"\nBecause /) as string,
    });
    const home = { ...plain, context: { 'aws:SourceIp': ['10.1.2.3'] } };
    const allowed = await test.call('root', 'POST', path, { plain: JSON.stringify(home) });
    expect(allowed.value).toMatchObject({ effect: 'allow', cause: 'allowed' });
  });

  it('is asked for by GET too, of users and of access keys', async () => {
    await test.identities.createServiceAccount({ subject: { kind: 'user', name: 'ann' }, accessKey: 'robot' });
    for (const [user, who] of [
      ['ann', 'ann'],
      ['robot', 'ann, service account robot'],
      ['root', 'root'],
    ]) {
      const { value } = await test.call('root', 'GET', `${path}?user=${user}&action=s3:PutObject&resource=b/key`);
      expect(value).toMatchObject({ who, effect: user === 'root' ? 'allow' : 'deny' });
    }
  });

  it('needs the right', async () => {
    expect(await test.call('ann', 'GET', `${path}?user=ann&action=s3:PutObject`)).toMatchObject({ status: 403 });
  });

  it('of a disabled or unknown user says so', async () => {
    await test.identities.putUser({ accessKey: 'ann', status: 'disabled' });
    expect(await test.call('root', 'GET', `${path}?user=ann&action=s3:PutObject`)).toMatchObject({
      status: 409,
      value: { Message: expect.stringContaining('"ann" is disabled') as string },
    });
    expect(await test.call('root', 'GET', `${path}?user=nix&action=s3:PutObject`)).toMatchObject({ status: 404 });
    expect(await test.call('root', 'GET', `${path}?user=ann`)).toMatchObject({ status: 400 });
  });
});
