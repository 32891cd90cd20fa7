import { beforeEach, describe, expect, it } from 'vitest';
import { adminTest } from '../../test/support/admin/admin.ts';

let test: Awaited<ReturnType<typeof adminTest>>;
const reading = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::b/*'] }],
};
const date = '2026-01-01T00:00:00.000Z';
const put = (name: string, plain: string) => test.call('root', 'PUT', `add-canned-policy?name=${name}`, { plain });

const listed = async (bucket: string) =>
  Object.keys((await test.call('root', 'GET', `list-canned-policies?bucket=${bucket}`)).value as object).toSorted();

beforeEach(async () => {
  test = await adminTest();
  await test.identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
});

describe('policies', () => {
  it('are put, shown in both forms, and listed with those that are built in', async () => {
    expect((await put('p', JSON.stringify(reading))).status).toBe(200);
    expect((await test.call('root', 'GET', 'info-canned-policy?name=p')).value).toEqual(reading);
    expect((await test.call('root', 'GET', 'info-canned-policy?name=p&v=2')).value).toEqual({
      PolicyName: 'p',
      Policy: reading,
      CreateDate: date,
      UpdateDate: date,
    });
    const { value } = await test.call('root', 'GET', 'list-canned-policies');
    expect(value).toMatchObject({ p: reading, readwrite: { Version: '2012-10-17' } });
    expect(Object.keys(value as object)).toHaveLength(6);
  });

  it('that are built in have no dates', async () => {
    expect((await test.call('root', 'GET', 'info-canned-policy?name=writeonly&v=2')).value).toEqual({
      PolicyName: 'writeonly',
      Policy: {
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Action: ['s3:PutObject'], Resource: ['arn:aws:s3:::*'] }],
      },
    });
  });

  it('are listed by what they allow in a bucket', async () => {
    await put('p', JSON.stringify(reading));
    expect(await listed('b')).toEqual(['consoleAdmin', 'p', 'readonly', 'readwrite', 'writeonly']);
    expect(await listed('c')).toEqual(['consoleAdmin', 'readonly', 'readwrite', 'writeonly']);
  });

  it.each([
    ['no JSON', 'p', '{', 'XMinioMalformedIAMPolicy'],
    ['nothing', 'p', '', 'XMinioMalformedIAMPolicy'],
    ['an operator that is none', 'p', '{"Statement":[{"Effect":"Maybe"}]}', 'XMinioMalformedIAMPolicy'],
    ['a name with a comma', 'a,b', JSON.stringify(reading), 'XCofferInvalidRequest'],
    ['more than 64 KiB', 'p', JSON.stringify(reading).padEnd(66_000), 'XCofferInvalidRequest'],
  ])('are refused with %s', async (_, name, text, code) => {
    expect(await put(name, text)).toMatchObject({ status: 400, value: { Code: code } });
  });

  it('are not removed while they are attached: the refusal says to whom', async () => {
    await put('p', JSON.stringify(reading));
    await test.identities.attach({ kind: 'user', name: 'ann' }, ['p']);
    expect(await test.call('root', 'DELETE', 'remove-canned-policy?name=p')).toMatchObject({
      status: 400,
      value: {
        Code: 'XMinioAdminPolicyInUse',
        Message: 'The policy p is attached to the user ann; detach it first.',
      },
    });
    await test.identities.detach({ kind: 'user', name: 'ann' }, ['p']);
    expect((await test.call('root', 'DELETE', 'remove-canned-policy?name=p')).status).toBe(200);
    expect((await test.call('root', 'DELETE', 'remove-canned-policy?name=p')).status).toBe(200);
    expect(await test.call('root', 'GET', 'info-canned-policy?name=p')).toMatchObject({
      status: 404,
      value: { Code: 'XMinioAdminNoSuchPolicy' },
    });
  });

  it('are closed to people without the right', async () => {
    for (const [method, target] of [
      ['PUT', 'add-canned-policy?name=p'],
      ['GET', 'info-canned-policy?name=readonly'],
      ['GET', 'list-canned-policies'],
      ['DELETE', 'remove-canned-policy?name=p'],
    ] as const) {
      expect((await test.call('ann', method, target, { plain: JSON.stringify(reading) })).status, target).toBe(403);
    }
  });
});
