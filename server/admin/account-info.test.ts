import { expect, it } from 'vitest';
import { adminTest } from './testing.ts';

const created = '2026-01-01T00:00:00.000Z';

it('tells root of every bucket, with what root may do', async () => {
  const { call } = await adminTest({ buckets: ['a', 'b'] });
  expect((await call('root', 'GET', 'accountinfo')).value).toMatchObject({
    AccountName: 'root',
    Server: { Type: 2 },
    Policy: { Version: '2012-10-17', Statement: [{}, {}, { Action: ['s3:*'] }] },
    Buckets: [
      { name: 'a', size: 0, created, access: { read: true, write: true } },
      { name: 'b', size: 0, created, access: { read: true, write: true } },
    ],
  });
});

it('tells people of the buckets that their policies open, also by keys that a policy narrows', async () => {
  const { call, identities } = await adminTest({ buckets: ['a', 'b'] });
  await identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
  expect((await call('ann', 'GET', 'accountinfo')).value).toMatchObject({
    AccountName: 'ann',
    Policy: { Version: '2012-10-17', Statement: [] },
    Buckets: null,
  });
  const statement = { Effect: 'Allow', Action: ['s3:PutObject'], Resource: ['arn:aws:s3:::b/*'] };
  const policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
  await identities.putPolicy('p', policy);
  await identities.attach({ kind: 'user', name: 'ann' }, ['p']);
  await identities.createServiceAccount({
    subject: { kind: 'user', name: 'ann' },
    accessKey: 'robot',
    secretKey: 'robot-password',
    policy,
  });
  for (const caller of ['ann', 'robot']) {
    expect((await call(caller, 'GET', 'accountinfo')).value).toMatchObject({
      AccountName: 'ann',
      Policy: { Version: '2012-10-17', Statement: [statement] },
      Buckets: [{ name: 'b', access: { read: false, write: true } }],
    });
  }
});

it('tells strangers nothing', async () => {
  const { call } = await adminTest();
  expect(await call('nobody', 'GET', 'accountinfo')).toMatchObject({ status: 403 });
});
