import * as fc from 'fast-check';
import { Attribute, Change, Client } from 'ldapts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { LdapSettings } from '../../platform/settings/identity-settings.ts';
import { createLdapDirectory, type LdapDirectory } from '../../server/federation/ldap/ldap-directory.ts';
import { startTcpProxy } from './tcp-proxy.ts';
import { ann, bob, lee, people, readers, writers } from './people.ts';
import { admin, reader, removeSlapd, type Slapd, startSlapd, suffix } from './start-slapd.ts';

let slapd: Slapd;

beforeAll(async () => {
  slapd = await startSlapd(people);
}, 180_000);
afterAll(() => removeSlapd(slapd));
afterEach(() => slapd.resume());

const lower = (dn: string) => dn.toLowerCase();

function settings(changes: Partial<LdapSettings> = {}): LdapSettings {
  const [host = '', port = ''] = (changes.transport === 'tls' ? slapd.tls : slapd.plain).split(':');
  return {
    host,
    port: Number(port),
    transport: 'plain',
    skipVerify: false,
    caFile: slapd.caFile,
    lookup: reader,
    users: { bases: [`ou=people,${suffix}`], filter: '(uid=%s)' },
    groups: { bases: [`ou=groups,${suffix}`], filter: '(&(objectClass=groupOfNames)(member=%d))' },
    ...changes,
  };
}

const directory = (changes: Partial<LdapSettings> = {}, timeoutMs = 5_000): LdapDirectory =>
  createLdapDirectory(settings(changes), { timeoutMs, connections: 2 });

async function asAdmin(work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ url: `ldap://${slapd.plain}` });
  try {
    await client.bind(admin.dn, admin.password);
    await work(client);
  } finally {
    await client.unbind();
  }
}

const outcome = (asked: Promise<unknown>) =>
  asked.then(
    () => 'let in',
    (error: unknown) => (error as { code: string }).code,
  );

describe('a directory', () => {
  it('lets people in by name and password, and says their groups', async () => {
    expect(await directory().authenticate('ann', 'ann-password')).toEqual({
      name: 'ann',
      dn: ann,
      groups: [lower(readers)],
    });
  });

  // A Deny by ldap:username must hold however the user writes the name.
  it.each(['ANN', 'Ann', 'ann '])('names who signs in as %j by the spelling of the entry', async (typed) => {
    expect(await directory().authenticate(typed, 'ann-password')).toMatchObject({ name: 'ann', dn: ann });
    expect(await directory().find(typed)).toMatchObject({ name: 'ann' });
    expect(await directory().find(ann.toUpperCase())).toMatchObject({ name: 'ann' });
  });

  it('knows a name with signs and capitals by one spelling', async () => {
    const found = await directory().authenticate('LEE', 'lee-password');
    expect(found).toMatchObject({ dn: lower(lee), groups: [lower(readers)] });
  });

  it.each(['tls', 'starttls'] as const)('is reached by %s', async (transport) => {
    expect(await directory({ transport }).authenticate('bob', 'bob-password')).toMatchObject({ groups: [writers] });
  });

  it.each(['tls', 'starttls'] as const)('is not believed by %s without its authority', async (transport) => {
    const { caFile: _, ...without } = settings({ transport });
    const asked = createLdapDirectory(without).authenticate('bob', 'bob-password');
    await expect(asked).rejects.toMatchObject({
      code: 'directory-unavailable',
      message: expect.stringMatching(/certificate/) as string,
    });
  });

  it('is believed without one where that is asked for', async () => {
    const { caFile: _, ...without } = settings({ transport: 'tls', skipVerify: true });
    expect(await outcome(createLdapDirectory(without).authenticate('bob', 'bob-password'))).toBe('let in');
  });

  it.each([
    ['a wrong password', 'ann', 'wrong'],
    ['an empty password, which LDAP takes for nobody', 'ann', ''],
    ['nobody', 'nobody', 'x'],
    ['an empty name', '', 'x'],
    ['a NUL', 'ann\0', 'ann-password'],
    ['a star', 'an*', 'ann-password'],
    ['brackets', 'ann)(uid=*', 'ann-password'],
    ['an alternative', '*)(|(uid=ann', 'ann-password'],
    ['a name without end', 'a'.repeat(10_000), 'x'],
  ])('refuses %s, all alike', async (_, name, password) => {
    await expect(directory().authenticate(name, password)).rejects.toMatchObject({
      code: 'sign-in-refused',
      message: 'The directory does not know this name with this password.',
    });
  });

  it('lets nobody in whatever the name, but the one whose name it is', async () => {
    const asked = directory();
    const name = fc.oneof(fc.stringMatching(/^[an*()|&!=\\]{1,8}$/), fc.string({ unit: 'grapheme' }));
    await fc.assert(
      fc.asyncProperty(
        name.filter((one) => one.trim() !== 'ann'),
        async (one) => {
          expect(await outcome(asked.authenticate(one, 'ann-password'))).toBe('sign-in-refused');
        },
      ),
      { numRuns: 60 },
    );
  });

  it('refuses a name that several have', async () => {
    const users = { bases: [`ou=people,${suffix}`, `ou=guests,${suffix}`], filter: '(uid=%s)' };
    expect(await outcome(directory({ users }).authenticate('twin', 'twin-password'))).toBe('ambiguous-user');
    const all = { bases: [suffix], filter: '(|(uid=%s)(objectClass=inetOrgPerson))' };
    expect(await outcome(directory({ users: all }).authenticate('ann', 'ann-password'))).toBe('ambiguous-user');
  });

  it('says that it cannot be asked where those who look up are refused', async () => {
    const lookup = { ...reader, password: 'wrong' };
    const asked = directory({ lookup }).authenticate('ann', 'ann-password');
    await expect(asked).rejects.toMatchObject({
      code: 'directory-unavailable',
      // The DN of the lookup account is none of the caller's business.
      message: 'The directory refuses the lookup account: wrong DN or password (LDAP 49).',
    });
  });

  it('finds people by name and by DN', async () => {
    expect(await directory().find('ann')).toMatchObject({ dn: ann });
    expect(await directory().find(ann.toUpperCase())).toMatchObject({ dn: ann, groups: [lower(readers)] });
    expect(await directory().find(`uid=gone,ou=people,${suffix}`)).toBeUndefined();
    expect(await directory().find('gone')).toBeUndefined();
  });
});

describe('a directory in trouble', () => {
  it('that is down cannot be asked', async () => {
    const down = directory();
    await slapd.stop();
    expect(await outcome(down.authenticate('ann', 'ann-password'))).toBe('directory-unavailable');
    await slapd.start();
    expect(await outcome(down.authenticate('ann', 'ann-password'))).toBe('let in');
  });

  it.each(['plain', 'tls', 'starttls'] as const)(
    'that hangs is given up in time (%s), and those who wait too',
    async (transport) => {
      const hanging = directory({ transport }, 700);
      slapd.pause();
      const began = performance.now();
      const asked = Array.from({ length: 6 }, () => outcome(hanging.authenticate('ann', 'ann-password')));
      expect(new Set(await Promise.all(asked))).toEqual(new Set(['directory-unavailable']));
      expect(performance.now() - began).toBeLessThan(2_500);
      slapd.resume();
      expect(await outcome(hanging.authenticate('ann', 'ann-password'))).toBe('let in');
    },
  );

  it('never goes on without TLS, nor as nobody, after its connection was cut', async () => {
    const proxy = await startTcpProxy(slapd.plain);
    const [host = '', port = ''] = proxy.address.split(':');
    const cut = directory({ host, port: Number(port), transport: 'starttls' });
    for (const bytes of [100, 2_000, 3_000, 4_000, 6_000]) {
      proxy.cutAfter(bytes);
      expect(['directory-unavailable', 'let in']).toContain(await outcome(cut.authenticate('ann', 'ann-password')));
    }
    expect(proxy.seen().includes('ann-password')).toBe(false);
    await proxy.close();
  });

  it.each(['ann', 'nobody'])('is asked as much about %s with a wrong password as about anybody', async (name) => {
    const proxy = await startTcpProxy(slapd.plain);
    const [host = '', port = ''] = proxy.address.split(':');
    await expect(directory({ host, port: Number(port) }).authenticate(name, 'wrong-one')).rejects.toThrow();
    expect([proxy.most(), proxy.seen().includes('wrong-one')]).toEqual([2, true]);
    await proxy.close();
  });

  it('is asked over so many connections at a time', async () => {
    const proxy = await startTcpProxy(slapd.plain);
    const [host = '', port = ''] = proxy.address.split(':');
    const many = directory({ host, port: Number(port) }, 20_000);
    await Promise.all(Array.from({ length: 20 }, () => many.authenticate('ann', 'ann-password')));
    // Each question has one that looks up and one that tries the password.
    expect(proxy.most()).toBeLessThanOrEqual(4);
    await proxy.close();
  });
});

const state = async (name: string, filter = '(uid=%s)') => {
  const asked = directory({ users: { bases: [`ou=people,${suffix}`], filter } });
  const person = { name, dn: `uid=${name},ou=people,${suffix}`, groups: [] };
  return asked.stateOf(person);
};

const lock = (value: string) =>
  asAdmin((client) =>
    client.modify(
      `uid=cat,ou=people,${suffix}`,
      new Change({
        operation: 'replace',
        modification: new Attribute({ type: 'pwdAccountLockedTime', values: value === '' ? [] : [value] }),
      }),
    ),
  );

describe('the state of a person', () => {
  it('is present, as long as the directory has them', async () => {
    expect(await state('cat')).toEqual({ kind: 'present' });
    expect(await state('gone')).toEqual({ kind: 'gone', why: 'removed' });
  });

  it('is unknown where the directory does not show the base of its users', async () => {
    const asked = directory({ users: { bases: [`ou=lost,${suffix}`], filter: '(uid=%s)' } });
    const person = { name: 'cat', dn: `uid=cat,ou=lost,${suffix}`, groups: [] };
    expect(await outcome(asked.stateOf(person))).toBe('directory-unavailable');
  });

  it('is removed for who the filter does not find any more', async () => {
    expect(await state('cat', '(&(uid=%s)(title=staff))')).toEqual({ kind: 'gone', why: 'removed' });
  });

  it('is disabled for who an administrator locked, not for who mistyped', async () => {
    await lock('000001010000Z');
    expect(await state('cat')).toEqual({ kind: 'gone', why: 'disabled' });
    expect(await outcome(directory().authenticate('cat', 'cat-password'))).toBe('sign-in-refused');
    await lock('20260101000000Z');
    expect(await state('cat')).toEqual({ kind: 'present' });
    await lock('');
  });

  it('is gone for who left a group that gave them rights', async () => {
    const person = await directory().authenticate('bob', 'bob-password');
    const change = (operation: 'add' | 'delete') =>
      asAdmin((client) =>
        client.modify(
          writers,
          new Change({ operation, modification: new Attribute({ type: 'member', values: [bob] }) }),
        ),
      );
    await asAdmin((client) =>
      client.modify(
        writers,
        new Change({ operation: 'add', modification: new Attribute({ type: 'member', values: [ann] }) }),
      ),
    );
    await change('delete');
    expect(await directory().stateOf(person)).toEqual({ kind: 'gone', why: 'left-group' });
    await change('add');
    expect(await directory().stateOf(person)).toEqual({ kind: 'present' });
  });
});
