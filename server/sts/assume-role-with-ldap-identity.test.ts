import { beforeEach, describe, expect, it } from 'vitest';
import type { AccessService } from '../auth/access.ts';
import { IdentityError } from '../auth/identity-error.ts';
import { createAssumeRoleWithLdapIdentity, ldapIdentityAction } from './assume-role-with-ldap-identity.ts';
import { createStsHandler } from './sts-handler.ts';
import { form, formRequest, silent, testAccess, told } from '../../test/support/auth/sts.ts';

const dn = 'uid=ann,ou=people,dc=example,dc=org';

let access: AccessService;
let now: number;
let asked: number;
let serve: ReturnType<typeof createStsHandler>;

beforeEach(async () => {
  access = await testAccess();
  await access.identities.attach({ kind: 'ldap-user', name: dn }, ['readonly']);
  [now, asked] = [Date.now(), 0];
  const clock = () => new Date(now);
  const directory = {
    async authenticate(name: string, password: string) {
      asked += 1;
      await Promise.resolve();
      if (name === 'away') throw new IdentityError('directory-unavailable', 'The directory cannot be asked now.');
      if (!/^\s*ann\s*$/i.test(name) || password !== 'right')
        throw new IdentityError('sign-in-refused', 'Not this name and password.');
      return { name, dn, groups: [] };
    },
  };
  const action = ldapIdentityAction(createAssumeRoleWithLdapIdentity({ ...access, directory, clock }));
  serve = createStsHandler({ actions: [action], log: silent });
});

async function assume(name: string, password: string, from: { address?: string } = {}) {
  const parameters = { Action: 'AssumeRoleWithLDAPIdentity', LDAPUsername: name, LDAPPassword: password };
  const { address: remoteAddress = '192.0.2.1' } = from;
  const answer = await serve(formRequest(form(parameters), { remoteAddress }));
  return { ...told(answer), wait: answer.headers['retry-after'] };
}

async function guess(times: number, name: (time: number) => string, from: (time: number) => string) {
  for (let time = 0; time < times; time += 1) await assume(name(time), `guess-${time}`, { address: from(time) });
}

describe('wrong passwords at AssumeRoleWithLDAPIdentity', () => {
  it('stop their sender, until a minute is over', async () => {
    await guess(
      10,
      () => 'ann',
      () => '192.0.2.1',
    );
    const rejected = await assume('ann', 'right');
    expect(rejected).toMatchObject({ status: 429, code: 'Throttling', wait: '60' });
    expect((await assume('ann', 'right', { address: '192.0.2.2' })).status).toBe(200);
    now += 60_000;
    expect((await assume('ann', 'right')).status).toBe(200);
  });

  it.each([
    ['in another case', (time: number) => (time % 2 ? 'ANN' : 'ann')],
    ['with blanks', (time: number) => `${' '.repeat(time)}ann${' '.repeat(time)}`],
    ['with invisible characters', (time: number) => `ann${'\u200b'.repeat(time)}`],
  ])('count for one name written %s', async (_how, name) => {
    await guess(10, name, () => '192.0.2.1');
    expect(await assume('ann', 'right')).toMatchObject({ status: 429 });
  });

  it('of many names stop their address', async () => {
    await guess(
      100,
      (time) => `user-${time}`,
      () => '192.0.2.1',
    );
    expect(await assume('ann', 'right')).toMatchObject({ status: 429 });
    expect((await assume('ann', 'right', { address: '192.0.2.2' })).status).toBe(200);
  });

  it('of many names do not stop a user who signed in from that address before', async () => {
    await assume('ann', 'right');
    for (let time = 0; time < 120; time += 1) await assume(`user-${time}`, 'guess');
    expect((await assume('ann', 'right')).status).toBe(200);
  });

  it('from many addresses stop strangers for seconds, and the owner nowhere that they signed in before', async () => {
    await assume('ann', 'right', { address: '198.51.100.1' });
    await guess(
      30,
      () => 'ann',
      (time) => `192.0.2.${time}`,
    );
    expect(await assume('ann', 'right', { address: '198.51.100.2' })).toMatchObject({ status: 429, wait: '5' });
    expect((await assume('ann', 'right', { address: '198.51.100.1' })).status).toBe(200);
  });

  it('sent at the same time do not all reach the directory', async () => {
    await Promise.all(Array.from({ length: 90 }, (_, time) => assume('ann', `guess-${time}`)));
    expect(asked).toBeLessThanOrEqual(13);
  });

  it('are not counted where the directory was away', async () => {
    await guess(
      12,
      () => 'away',
      () => '192.0.2.1',
    );
    expect((await assume('away', 'x')).code).toBe('IDPCommunicationError');
  });
});
