import { beforeEach, describe, expect, it } from 'vitest';
import { ldapSubject } from '../../federation/ldap/ldap-user.ts';
import { federated } from '../../../test/support/auth/identities.ts';
import { adminTest } from '../../../test/support/admin/admin.ts';

const expiration = new Date('2026-01-02T00:00:00Z');
const ann = federated({ parent: 'hash-of-ann', provider: 'KC', subjectId: 'ann-id', policies: ['readonly'] });
const bob = federated({ parent: 'hash-of-bob', provider: 'OTHER', displayName: 'bob', policies: ['consoleAdmin'] });
const lee = ldapSubject({ name: 'lee', dn: 'uid=lee,dc=org', groups: [] });

let admin: Awaited<ReturnType<typeof adminTest>>;
let keys: { readonly ann: string; readonly bob: string; readonly lee: string };

beforeEach(async () => {
  admin = await adminTest();
  const { temporary } = admin.access;
  const of = async (subject: typeof ann) =>
    (await temporary.create({ subject, parentName: subject.parent, expiration })).accessKey;
  keys = { ann: await of(ann), bob: await of(bob), lee: await of(lee) };
  await admin.identities.createServiceAccount({ subject: ann, accessKey: 'key-of-ann', secretKey: 'secret-of-ann' });
});

const openid = (by: string, query: string) => admin.call(by, 'GET', `idp/openid/list-access-keys-bulk?${query}`);
const ldap = (by: string, query: string) => admin.call(by, 'GET', `idp/ldap/list-access-keys-bulk?${query}`);

describe('access keys of people of OpenID providers', () => {
  it('are listed by configuration', async () => {
    const { status, value } = await openid('root', 'listType=all&all=true&allConfigs=true');
    expect(status).toBe(200);
    expect(value).toMatchObject([
      {
        configName: 'KC',
        users: [
          {
            minioAccessKey: 'hash-of-ann',
            ID: 'ann-id',
            readableName: 'ann',
            serviceAccounts: [{ accessKey: 'key-of-ann' }],
            stsKeys: [{ accessKey: keys.ann }],
          },
        ],
      },
      {
        configName: 'OTHER',
        users: [{ readableName: 'bob', serviceAccounts: null, stsKeys: [{ accessKey: keys.bob }] }],
      },
    ]);
    expect((await openid('root', 'listType=all&all=true&configName=OTHER')).value).toMatchObject([
      { configName: 'OTHER' },
    ]);
  });

  it.each(['hash-of-ann', 'ann-id', 'ann'])('are those of whom the query names: %s', async (name) => {
    const { value } = await openid('root', `listType=svcacc-only&users=${name}`);
    expect(value).toMatchObject([{ configName: 'KC', users: [{ readableName: 'ann', stsKeys: null }] }]);
  });

  it('are told to people of their own, and of others only with the right', async () => {
    expect((await openid(keys.ann, 'listType=all')).value).toMatchObject([{ users: [{ ID: 'ann-id' }] }]);
    expect((await openid(keys.ann, 'listType=all&users=ann')).status).toBe(200);
    expect((await openid(keys.ann, 'listType=all&users=bob')).status).toBe(403);
    expect((await openid(keys.ann, 'listType=all&all=true')).status).toBe(403);
    expect((await openid(keys.bob, 'listType=all&users=ann')).status).toBe(200);
  });

  it('are nothing of who is of no provider', async () => {
    expect(await openid('root', 'listType=all')).toMatchObject({
      status: 400,
      value: { Code: 'XCofferInvalidRequest' },
    });
  });
});

describe('access keys of people of a directory', () => {
  it('are listed by DN, in any spelling', async () => {
    const listed = { 'uid=lee,dc=org': { serviceAccounts: null, stsKeys: [{ accessKey: keys.lee }] } };
    expect((await ldap('root', 'listType=all&all=true')).value).toMatchObject(listed);
    expect((await ldap('root', `listType=all&userDNs=${encodeURIComponent('UID=Lee, DC=org')}`)).value).toMatchObject(
      listed,
    );
    expect((await ldap('root', 'listType=svcacc-only&all=true')).value).toEqual({});
  });

  it('are listed for one person, as older clients ask', async () => {
    const target = 'idp/ldap/list-access-keys?listType=sts-only&userDN=uid%3Dlee%2Cdc%3Dorg';
    expect((await admin.call('root', 'GET', target)).value).toMatchObject({ stsKeys: [{ accessKey: keys.lee }] });
  });
});
