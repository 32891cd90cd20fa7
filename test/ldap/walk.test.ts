import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ldapUserPolicies } from '../../server/federation/ldap/ldap-user.ts';
import type { Identities } from '../../server/auth/identities/identities.ts';
import { testIdentities } from '../support/auth/identities.ts';
import type { IdentityProviderConfigurations } from '../../server/federation/configurations/provider-configurations.ts';
import { ldapConfigurations } from '../../server/federation/configurations/ldap-configurations.ts';
import { storedConfigurations } from '../../server/federation/configurations/stored-configurations.ts';
import { ann, people, readers } from './people.ts';
import { reader, removeSlapd, type Slapd, startSlapd, suffix } from './start-slapd.ts';

let slapd: Slapd;
let identities: Identities;
let ldap: IdentityProviderConfigurations;

beforeAll(async () => {
  slapd = await startSlapd(people);
}, 180_000);
afterAll(() => removeSlapd(slapd));
beforeEach(async () => {
  const made = await testIdentities();
  ({ identities } = made);
  ldap = ldapConfigurations({
    stored: storedConfigurations(made.records, () => new Date()),
    rights: ldapUserPolicies(identities),
  });
});

const settings = () => ({
  server_addr: slapd.tls,
  ca_file: slapd.caFile,
  lookup_bind_dn: reader.dn,
  lookup_bind_password: reader.password,
  user_dn_search_base_dn: `ou=people,${suffix}`,
  user_dn_search_filter: '(uid=%s)',
  group_search_base_dn: `ou=groups,${suffix}`,
  group_search_filter: '(&(objectClass=groupOfNames)(member=%d))',
});

async function walk(changes: Record<string, string> = {}, person?: string) {
  const steps = await ldap.test?.('_', new Map(Object.entries({ ...settings(), ...changes })), person);
  return {
    outcomes: (steps ?? []).map(({ step, outcome }) => `${step}: ${outcome}`),
    last: steps?.at(-1)?.message ?? '',
    all: JSON.stringify(steps),
  };
}

const fine = ['Connection: ok', 'Lookup account: ok', 'User: ok', 'Groups: ok'];

describe('the test of a directory', () => {
  it('goes as far as it can without a person', async () => {
    const { outcomes, all } = await walk();
    expect(outcomes).toEqual(fine);
    expect(all).toContain('Name a user to test more');
    expect(all).not.toContain(reader.password);
  });

  it.each(['ann', ann.toUpperCase()])('says who %s is, their groups and their policies', async (person) => {
    await identities.attach({ kind: 'ldap-user', name: ann }, ['readonly']);
    await identities.attach({ kind: 'ldap-group', name: readers.toLowerCase() }, ['diagnostics']);
    const { outcomes, all } = await walk({}, person);
    expect(outcomes).toEqual([...fine, 'Policies: ok']);
    for (const said of [ann, readers.toLowerCase(), 'readonly', 'diagnostics']) expect(all).toContain(said);
  });

  it('says that nothing is attached', async () => {
    const { outcomes, last } = await walk({}, 'ann');
    expect([outcomes.at(-1), last]).toEqual(['Policies: failed', expect.stringContaining('idp ldap policy attach')]);
  });

  it.each([
    ['nothing that listens', { server_addr: '127.0.0.1:1' }, 'Connection: failed', 'ECONNREFUSED'],
    ['an authority that is not known', { ca_file: '' }, 'Connection: failed', 'certificate'],
    ['a wrong password', { lookup_bind_password: 'wrong' }, 'Lookup account: failed', reader.dn],
    ['a place that is not there', { user_dn_search_base_dn: 'ou=no,dc=example,dc=org' }, 'User: failed', 'ou=no,'],
    ['no groups there', { group_search_base_dn: 'ou=no,dc=example,dc=org' }, 'Groups: failed', 'ou=no,'],
  ])('ends at %s', async (_, changes, outcome, said) => {
    const { outcomes, last, all } = await walk(changes);
    expect([outcomes.at(-1), last]).toEqual([outcome, expect.stringContaining(said)]);
    expect(all).not.toContain('wrong"');
  });

  it.each([
    ['nobody', {}, 'has no user'],
    [`uid=nobody,ou=people,${suffix}`, {}, 'has no user'],
    ['twin', { user_dn_search_base_dn: `ou=people,${suffix};ou=guests,${suffix}` }, 'several users called'],
  ])('does not find %s', async (person, changes, said) => {
    const { outcomes, last } = await walk(changes, person);
    expect([outcomes.at(-1), last]).toEqual(['User: failed', expect.stringContaining(said)]);
  });

  it.each([
    ['a person without groups', {}, 'cat', 'Groups: unclear'],
    ['no search for groups', { group_search_base_dn: '', group_search_filter: '' }, 'ann', 'Groups: skipped'],
    ['no encryption', { server_insecure: 'on', plain: 'yes' }, 'ann', 'Connection: unclear'],
    ['a certificate that is not looked at', { ca_file: '', tls_skip_verify: 'on' }, 'ann', 'Connection: unclear'],
  ])('points at %s', async (_, { plain, ...changes }: Record<string, string>, person, outcome) => {
    const server: Record<string, string> = plain === undefined ? {} : { server_addr: slapd.plain };
    expect((await walk({ ...changes, ...server }, person)).outcomes).toContain(outcome);
  });

  it('points at a policy that nobody defined', async () => {
    await identities.attach({ kind: 'ldap-user', name: ann }, ['readonly']);
    const missing = ldapUserPolicies({ ...identities, policy: () => Promise.resolve(undefined) });
    const { records } = await testIdentities();
    const stored = storedConfigurations(records, () => new Date());
    const other = ldapConfigurations({ stored, rights: missing });
    const steps = await other.test?.('_', new Map(Object.entries(settings())), 'ann');
    expect(steps?.at(-1)).toMatchObject({ step: 'Policies', outcome: 'unclear' });
  });

  it('takes what is saved, also where it is switched off', async () => {
    await ldap.save('_', new Map(Object.entries({ ...settings(), enable: 'off' })), 'add');
    expect((await ldap.test?.('_'))?.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok', 'ok']);
  });

  it('refuses where there is none', async () => {
    await expect(ldap.test?.('_')).rejects.toMatchObject({ code: 'no-such-configuration' });
  });
});
