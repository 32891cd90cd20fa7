import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noKeySource } from '../encryption/key-source.ts';
import { sealedRecords } from '../encryption/sealed-records.ts';
import { openIdentities } from '../auth/identities/open-identities.ts';
import type { Identities } from '../auth/identities/identities.ts';
import type { FederatedSubject } from '../auth/identities/subject.ts';
import { IdentityError } from '../auth/identity-error.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../../test/support/openid/openid-provider.ts';
import { checkedIdentities, checkedTemporary } from './checked-credentials.ts';
import type { LdapDirectory } from './ldap/ldap-directory.ts';
import { ldapSubject } from './ldap/ldap-user.ts';
import { createRevocations, createCheckCounter, readCheckCounts, type CheckCounter } from './user-status-records.ts';
import { createOpenIdProviders, type OpenIdProviders } from './openid-providers.ts';
import { createUserStatusCheck, type UserStatusCheck } from './user-status-check.ts';
import { createTemporaryCredentials, type TemporaryCredentialsStore } from '../auth/temporary-credentials.ts';

let double: OpenIdProviderDouble;
let providers: OpenIdProviders;
let records: ReturnType<typeof sealedRecords>;
let identities: Identities;
let temporary: TemporaryCredentialsStore;
let unchecked: TemporaryCredentialsStore;
let counter: CheckCounter;
let check: UserStatusCheck;
let lines: string[];
let time: number;

const clock = () => new Date();
const now = () => time;
const say = (_fields: object, message: string) => void lines.push(message);
const log = { info: say, warn: say, error: say };

beforeAll(async () => {
  double = await startOpenIdProvider({ users: [{ username: 'ann' }, { username: 'bob' }] });
  const settings = {
    id: 'P',
    enabled: true,
    configUrl: double.configUrl,
    clientId: 'coffer',
    clientSecret: 'coffer-secret',
    scopes: [],
    claimName: 'policy',
    claimUserinfo: false,
    rolePolicy: [],
    redirectUriDynamic: false,
    realm: 'demo',
  };
  const list = [
    { ...settings, vendor: 'keycloak' as const, adminUrl: double.adminUrl },
    { ...settings, id: 'PLAIN' },
  ];
  lines = [];
  providers = createOpenIdProviders({ settings: list, region: '', log });
  await providers.start();
});
afterAll(async () => {
  providers.close();
  await double.close();
});

beforeEach(async () => {
  double.heal();
  for (const username of ['ann', 'bob']) double.user(username).enabled = true;
  double.requests.length = 0;
  [lines, time] = [[], 0];
  records = sealedRecords({ records: new MemoryRecordStore(), keys: noKeySource });
  await records.start();
  open('keep');
});

function open(unreachable: 'keep' | 'refuse', directory?: Pick<LdapDirectory, 'stateOf'>): void {
  const plain = openIdentities({ records, rootUser: 'root', staleMs: 0, clock });
  const store = createTemporaryCredentials({ records, tokenKey: new Uint8Array(64), clock });
  counter = createCheckCounter(records, clock);
  const revocations = createRevocations(records);
  check = createUserStatusCheck({
    providers,
    directory,
    temporary: store,
    identities: plain,
    revocations,
    counter,
    unreachable,
    log,
    now,
  });
  unchecked = store;
  [identities, temporary] = [checkedIdentities(plain, check), checkedTemporary(store, check)];
}

/** Opens the check with a directory that lets each request wait for 5 s, or fail at once. */
function hangingDirectory(how: (at: number) => 'hangs' | 'fails' | 'answers'): { readonly asked: number } {
  let asked = 0;
  open('keep', {
    stateOf: async () => {
      const state = how(asked);
      asked += 1;
      if (state === 'answers') return { kind: 'present' };
      if (state === 'hangs') time += 5_000;
      throw new IdentityError('directory-unavailable', 'The directory cannot be asked now');
    },
  });
  return {
    get asked() {
      return asked;
    },
  };
}

/** Makes credentials without a check. */
async function ldapSession(name: string): Promise<void> {
  const subject = ldapSubject({ name, dn: `uid=${name}`, groups: [] });
  await unchecked.create({ subject, parentName: name, expiration: new Date(Date.now() + 3_600_000) });
}

function subject(username: string, changes: Partial<FederatedSubject> = {}): FederatedSubject {
  return {
    kind: 'federated',
    source: 'openid',
    provider: 'P',
    parent: `parent-of-${username}`,
    displayName: username,
    subjectId: double.user(username).id,
    policies: ['readonly'],
    targets: [],
    claims: {},
    ...changes,
  };
}

const session = (username: string, changes: Partial<FederatedSubject> = {}) =>
  temporary.create({
    subject: subject(username, changes),
    parentName: `parent-of-${username}`,
    expiration: new Date(Date.now() + 3_600_000),
  });
const sessionBy = (on: TemporaryCredentialsStore) =>
  on.create({ subject: subject('ann'), parentName: 'p', expiration: new Date(Date.now() + 60_000) });
const lookUps = () => double.requests.filter((request) => request.includes('/users/')).length;

describe('credentials for a user', () => {
  it('are made while they exist, and they are asked about once in some seconds', async () => {
    await session('ann');
    await session('ann');
    expect(lookUps()).toBe(1);
    time += 5_001;
    await session('ann');
    expect(lookUps()).toBe(2);
  });

  it('are refused when they are disabled, and what they had ends', async () => {
    const before = await session('ann');
    double.user('ann').enabled = false;
    time += 5_001;
    await expect(session('ann')).rejects.toMatchObject({
      code: 'PersonDisabled',
      message: 'ann is disabled at the provider P.',
    });
    expect(await temporary.find(before.accessKey)).toBeUndefined();
  });

  it('are refused for a user who is gone', async () => {
    await expect(session('ann', { subjectId: 'nobody' })).rejects.toThrow(
      'ann does not exist any more at the provider P.',
    );
  });

  it('are refused as service accounts, too', async () => {
    double.user('ann').enabled = false;
    const refusal = identities.createServiceAccount({ subject: subject('ann') });
    await expect(refusal).rejects.toMatchObject({
      code: 'AccessDenied',
      message: expect.stringMatching(/disabled/) as string,
    });
  });

  it('are made for people of providers that are not asked, and of others', async () => {
    await session('ann', { provider: 'PLAIN' });
    await session('ann', { source: 'ldap' });
    await identities.createServiceAccount({ subject: { kind: 'root' } });
    expect(lookUps()).toBe(0);
  });

  it('are made while the provider cannot be asked, and that is logged and counted', async () => {
    double.fail('admin', { kind: 'status', status: 503 });
    await session('ann');
    expect(lines).toEqual([expect.stringMatching(/user status check of ann failed.*gets credentials anyway.*503/)]);
    await counter.flush();
    expect(await readCheckCounts(records)).toMatchObject({ unreachable: 1 });
  });

  it('are refused then where the setting says so', async () => {
    open('refuse');
    double.fail('admin', { kind: 'status', status: 503 });
    await expect(session('ann')).rejects.toMatchObject({ code: 'AdminRefused' });
  });

  it('are refused then to who was disabled when last heard of', async () => {
    double.user('ann').enabled = false;
    await session('ann').catch(() => undefined);
    double.fail('admin', { kind: 'half-open' });
    await expect(session('ann')).rejects.toMatchObject({ code: 'Unreachable' });
  });

  it('are made again for who is back', async () => {
    double.user('ann').enabled = false;
    await session('ann').catch(() => undefined);
    double.user('ann').enabled = true;
    await session('ann');
    await session('ann');
  });

  it('are made on another thread, too, right after it was told that they were disabled', async () => {
    const here = temporary;
    open('keep');
    const there = temporary;
    double.user('ann').enabled = false;
    await expect(sessionBy(there)).rejects.toMatchObject({ code: 'PersonDisabled' });
    double.user('ann').enabled = true;
    await sessionBy(here);
    await sessionBy(there);
  });

  it('do not survive a cut-off that comes while they are made', async () => {
    await session('ann');
    const revocations = createRevocations(records);
    const raced = checkedTemporary(
      {
        ...temporary,
        async create(request) {
          const made = await createTemporaryCredentials({ records, tokenKey: new Uint8Array(64), clock }).create(
            request,
          );
          await revocations.add('parent-of-ann');
          return made;
        },
      },
      check,
    );
    const expiration = new Date(Date.now() + 60_000);
    const making = raced.create({ subject: subject('ann'), parentName: 'p', expiration });
    await expect(making).rejects.toMatchObject({ code: 'PersonDisabled' });
    expect((await Array.fromAsync(temporary.ofOwner('parent-of-ann'))).length).toBe(1);
  });
});

describe('a round', () => {
  it('ends the sessions of who is disabled, disables their service accounts, and leaves others alone', async () => {
    const [ann, bob] = [await session('ann'), await session('bob')];
    const account = await identities.createServiceAccount({ subject: subject('ann') });
    double.user('ann').enabled = false;
    const report = await check.run();
    expect(report).toEqual({
      checked: 2,
      active: 1,
      cutOff: [
        {
          provider: 'P',
          name: 'ann',
          parent: 'parent-of-ann',
          reason: 'disabled',
          temporaryCredentials: 1,
          serviceAccounts: [account.accessKey],
        },
      ],
      unreachable: [],
    });
    expect(await temporary.find(ann.accessKey)).toBeUndefined();
    expect(await temporary.find(bob.accessKey)).toBeDefined();
    expect(await identities.serviceAccount(account.accessKey)).toMatchObject({ status: 'disabled' });
  });

  it('finds who has nothing but a service account', async () => {
    const account = await identities.createServiceAccount({ subject: subject('bob') });
    double.realm.users.delete(double.user('bob').id);
    const { cutOff } = await check.run();
    expect(cutOff).toMatchObject([{ name: 'bob', reason: 'gone', serviceAccounts: [account.accessKey] }]);
    double.addUser({ username: 'bob' });
  });

  it('asks about one person where one is named', async () => {
    await Promise.all([session('ann'), session('bob')]);
    for (const who of ['ann', double.user('ann').id, 'parent-of-ann'])
      expect(await check.run(who)).toMatchObject({ checked: 1, active: 1 });
    expect(await check.run('nobody')).toMatchObject({ checked: 0 });
  });

  it('ends no credentials while the provider cannot be asked, and says why', async () => {
    const ann = await session('ann');
    double.fail('admin', { kind: 'status', status: 500 });
    const report = await check.run();
    expect(report).toMatchObject({ checked: 1, active: 0, cutOff: [], unreachable: [{ provider: 'P', people: 1 }] });
    expect(lines.at(-1)).toMatch(/user status check of 1 user of P failed: .*500/);
    expect(await temporary.find(ann.accessKey)).toBeDefined();
  });

  it('asks a directory that does not answer about a few users alone, and says so', async () => {
    const directory = hangingDirectory(() => 'hangs');
    for (let at = 0; at < 50; at += 1) await ldapSession(`user-${at}`);
    const report = await check.run();
    expect(directory.asked).toBeLessThanOrEqual(12);
    expect(report).toMatchObject({
      checked: directory.asked,
      cutOff: [],
      unreachable: [{ provider: 'ldap', people: 50 }],
    });
    expect(lines.at(-1)).toMatch(/check of 50 users of ldap failed: .*8 in a row: \d+ others were not asked about/);
  });

  it.each([
    ['answers about some users alone', (at: number) => (at % 8 === 7 ? 'answers' : 'hangs')],
    ['fails at once', () => 'fails' as const],
  ])('asks a directory that %s about each user', async (_how, how) => {
    const directory = hangingDirectory(how);
    for (let at = 0; at < 50; at += 1) await ldapSession(`user-${at}`);
    await check.run();
    expect(directory.asked).toBe(50);
  });

  it('asks about each once, however much they have', async () => {
    for (let count = 0; count < 3; count += 1) await session('ann');
    await identities.createServiceAccount({ subject: subject('ann') });
    double.requests.length = 0;
    expect(await check.run()).toMatchObject({ checked: 1 });
    expect(lookUps()).toBe(1);
  });

  it('counts for everybody together', async () => {
    await session('ann');
    await check.run();
    await check.run();
    await counter.flush();
    expect(await readCheckCounts(records)).toMatchObject({
      checked: 2,
      cutOff: 0,
      lastRound: expect.any(Number) as number,
    });
  });

  it('stops when it is told to', async () => {
    await session('ann');
    await expect(check.run(undefined, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
  });
});
