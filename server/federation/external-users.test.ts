import { beforeEach, describe, expect, it } from 'vitest';
import { noKeySource } from '../encryption/key-source.ts';
import { sealedRecords, type SealedRecordStore } from '../encryption/sealed-records.ts';
import type { Identities } from '../auth/identities/identities.ts';
import { openIdentities } from '../auth/identities/open-identities.ts';
import { federated } from '../../test/support/auth/identities.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { checkedIdentities, checkedTemporary } from './checked-credentials.ts';
import { type CheckCounter, createCheckCounter, createRevocations, readCheckCounts } from './user-status-records.ts';
import type { LdapUser } from './ldap/ldap-user.ts';
import type { LdapUserState } from './ldap/ldap-searches.ts';
import { ldapSubject } from './ldap/ldap-user.ts';
import { IdentityError } from '../auth/identity-error.ts';
import { createUserStatusCheck, type UserStatusCheck } from './user-status-check.ts';
import { checkableUser } from './external-users.ts';
import { createTemporaryCredentials, type TemporaryCredentialsStore } from '../auth/temporary-credentials.ts';

const ann = { name: 'ann', dn: 'uid=ann,dc=org', groups: ['cn=staff,dc=org'] };
const clock = () => new Date('2026-01-01T00:00:00Z');
const expiration = new Date('2026-01-01T12:00:00Z');
const log = { info: () => undefined, warn: () => undefined };
const providers = { list: [], byId: () => undefined, started: Promise.resolve() };

/** What the directory answers about somebody. */
let stateOf: (person: LdapUser) => LdapUserState;
let asked: string[];
let time: number;
let records: SealedRecordStore;
let counter: CheckCounter;
let check: UserStatusCheck;
let identities: Identities;
let temporary: TemporaryCredentialsStore;

beforeEach(async () => {
  [asked, time, stateOf] = [[], 0, () => ({ kind: 'present' })];
  records = sealedRecords({ records: new MemoryRecordStore(), keys: noKeySource });
  await records.start();
  counter = createCheckCounter(records, clock);
  const plain = openIdentities({ records, rootUser: 'root', staleMs: 0, clock });
  const store = createTemporaryCredentials({ records, tokenKey: new Uint8Array(64), clock });
  check = createUserStatusCheck({
    providers,
    directory: {
      stateOf: async (person) => {
        asked.push(person.name);
        return stateOf(person);
      },
    },
    temporary: store,
    identities: plain,
    revocations: createRevocations(records),
    counter,
    unreachable: 'keep',
    log,
    now: () => (time += 10_000),
  });
  [identities, temporary] = [checkedIdentities(plain, check), checkedTemporary(store, check)];
});

const sign = (person: LdapUser) =>
  temporary.create({ subject: ldapSubject(person), parentName: person.dn, expiration });
const account = (person: LdapUser) => identities.createServiceAccount({ subject: ldapSubject(person) });
const has = async (accessKey: string) => (await temporary.find(accessKey)) !== undefined;
const statusOf = async (accessKey: string) => (await identities.serviceAccount(accessKey))?.status;

describe('people of a directory', () => {
  it('keep what they have while the directory knows them', async () => {
    const { accessKey } = await sign(ann);
    const key = await account(ann);
    expect(await check.run()).toMatchObject({ checked: 1, active: 1, cutOff: [] });
    expect([await has(accessKey), await statusOf(key.accessKey)]).toEqual([true, 'enabled']);
  });

  it.each([
    ['removed', 'gone'],
    ['disabled', 'disabled'],
  ] as const)('who are %s lose everything at once, and get nothing', async (why, reason) => {
    const { accessKey } = await sign(ann);
    const key = await account(ann);
    stateOf = () => ({ kind: 'gone', why });
    expect(await check.run('ann')).toMatchObject({
      cutOff: [{ provider: 'ldap', name: 'ann', reason, temporaryCredentials: 1, serviceAccounts: [key.accessKey] }],
    });
    expect([await has(accessKey), await statusOf(key.accessKey)]).toEqual([false, 'disabled']);
    await expect(sign(ann)).rejects.toMatchObject({ code: 'PersonDisabled' });
    stateOf = () => ({ kind: 'present' });
    expect(await has((await sign(ann)).accessKey)).toBe(true);
  });

  it.each([
    ['temporary credentials', sign],
    ['a service account', account],
  ])('are counted as revoked where they had nothing but %s', async (_, create) => {
    await create(ann);
    stateOf = () => ({ kind: 'gone', why: 'removed' });
    await check.run();
    await counter.flush();
    expect(await readCheckCounts(records)).toMatchObject({ cutOff: 1 });
  });

  it('who left a group lose what was given for it, and nothing else', async () => {
    const [before, keyBefore] = [await sign(ann), await account(ann)];
    const now = { ...ann, groups: [] };
    const [after, keyAfter] = [await sign(now), await account(now)];
    stateOf = ({ groups }) => (groups.length === 0 ? { kind: 'present' } : { kind: 'gone', why: 'left-group' });
    expect(await check.run()).toMatchObject({
      checked: 2,
      active: 1,
      cutOff: [{ reason: 'left-group', temporaryCredentials: 1, serviceAccounts: [keyBefore.accessKey] }],
    });
    expect([await has(before.accessKey), await has(after.accessKey)]).toEqual([false, true]);
    expect([await statusOf(keyBefore.accessKey), await statusOf(keyAfter.accessKey)]).toEqual(['disabled', 'enabled']);
    await expect(account(ann)).rejects.toMatchObject({ code: 'AccessDenied' });
    expect(await has((await sign(now)).accessKey)).toBe(true);
  });

  it('keep what they have while the directory cannot be asked, which is counted', async () => {
    const { accessKey } = await sign(ann);
    stateOf = () => {
      throw new IdentityError('directory-unavailable', 'no answer');
    };
    expect(await check.run()).toMatchObject({ unreachable: [{ provider: 'ldap', people: 1, reason: 'no answer' }] });
    expect(await has(accessKey)).toBe(true);
  });

  it('are not asked about where no directory is configured, nor is anybody of another source', () => {
    expect(checkableUser({ providers }, ldapSubject(ann))).toBeUndefined();
    const directory = { stateOf: () => Promise.reject(new Error('asked')) };
    expect(checkableUser({ providers, directory }, federated())).toBeUndefined();
    expect(checkableUser({ providers, directory }, { kind: 'user', name: 'ann' })).toBeUndefined();
  });
});
