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
}, 60_000);
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
    const wrongKeys: Record<string, string>[] = [
      { lookup_bind_password: 'wrong' },
      { user_dn_search_base_dn: 'ou=nowhere,dc=example,dc=net' },
      { server_addr: '127.0.0.1:1' },
    ];
    for (const wrong of wrongKeys) {
      await expect(ldap.save('_', given(wrong), 'add'), JSON.stringify(wrong)).rejects.toMatchObject({
        code: 'unusable-provider',
      });
    }
    await expect(directory.find('ann')).rejects.toMatchObject({ code: 'no-directory' });
    expect(await ldap.save('_', given(), 'add')).toEqual({ applied: true });
    expect(await directory.find('ann')).toMatchObject({ dn: ann });
    await ldap.remove('_');
    await expect(directory.find('ann')).rejects.toMatchObject({ code: 'no-directory' });
  });
});
