import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configuredDirectory } from '../../server/federation/ldap/configured-directory.ts';
import { ldapUserPolicies } from '../../server/federation/ldap/ldap-user.ts';
import { testIdentities } from '../support/auth/identities.ts';
import { ldapConfigurations, storedDirectory } from '../../server/federation/configurations/ldap-configurations.ts';
import { storedConfigurations } from '../../server/federation/configurations/stored-configurations.ts';
import { ann, people } from './people.ts';
import { reader, removeSlapd, type Slapd, startSlapd, suffix } from './start-slapd.ts';

let slapd: Slapd;

beforeAll(async () => {
  slapd = await startSlapd(people);
}, 180_000);
afterAll(() => removeSlapd(slapd));

const given = (changes: Record<string, string> = {}) =>
  new Map(
    Object.entries({
      server_addr: slapd.tls,
      ca_file: slapd.caFile,
      lookup_bind_dn: reader.dn,
      lookup_bind_password: reader.password,
      user_dn_search_base_dn: `ou=people,${suffix}`,
      user_dn_search_filter: '(uid=%s)',
      ...changes,
    }),
  );

describe('a directory that is configured while the server runs', () => {
  it('is tried before it is saved, and asked from then on', async () => {
    const { records, identities } = await testIdentities();
    const stored = storedConfigurations(records, () => new Date());
    const ldap = ldapConfigurations({ stored, rights: ldapUserPolicies(identities) });
    const directory = configuredDirectory({ stored: storedDirectory(stored) });
    const groups = { group_search_base_dn: 'ou=gropus,dc=example,dc=org', group_search_filter: '(member=%d)' };
    const wrongKeys: readonly (readonly [Record<string, string>, string])[] = [
      [{ lookup_bind_password: 'wrong' }, `refuses the lookup account ${reader.dn}: wrong DN or password (LDAP 49).`],
      [{ user_dn_search_base_dn: 'ou=nowhere,dc=example,dc=org' }, 'ou=nowhere,dc=example,dc=org: no such entry'],
      [groups, 'ou=gropus,dc=example,dc=org: no such entry'],
      [{ server_addr: '127.0.0.1:1' }, 'ECONNREFUSED'],
      [{ ca_file: '' }, 'name its authority in ca_file'],
      [{ server_addr: slapd.plain }, 'server_starttls'],
      [{ server_insecure: 'on' }, 'server_insecure'],
    ];
    for (const [wrong, said] of wrongKeys) {
      await expect(ldap.save('_', given(wrong), 'add'), JSON.stringify(wrong)).rejects.toMatchObject({
        code: 'unusable-provider',
        message: expect.stringContaining(said),
      });
    }
    await expect(directory.find('ann')).rejects.toMatchObject({ code: 'no-directory' });
    expect(await ldap.save('_', given(), 'add')).toEqual({ applied: true });
    expect(await directory.find('ann')).toMatchObject({ dn: ann });
    await ldap.remove('_');
    await expect(directory.find('ann')).rejects.toMatchObject({ code: 'no-directory' });
  });
});
