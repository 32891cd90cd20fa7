import { describe, expect, it } from 'vitest';
import { ldapFromKeys, ldapKeys, ldapKeysOf } from './ldap-keys.ts';

const needed = {
  server_addr: 'ldap.example.org:1636',
  user_dn_search_base_dn: 'ou=a,dc=org;ou=b,dc=org',
  user_dn_search_filter: '(uid=%s)',
};
const from = (values: Record<string, string>) => ldapFromKeys(new Map(Object.entries(values)));

describe('the keys of a directory', () => {
  it('are those that MinIO has, and one more', () => {
    expect(ldapKeys.map(({ key }) => key)).toEqual([
      'enable',
      'server_addr',
      'lookup_bind_dn',
      'lookup_bind_password',
      'user_dn_search_base_dn',
      'user_dn_search_filter',
      'group_search_base_dn',
      'group_search_filter',
      'ca_file',
      'tls_skip_verify',
      'server_starttls',
      'server_insecure',
      'comment',
    ]);
  });

  it('make a directory', () => {
    expect(from(needed)).toMatchObject({
      directory: { host: 'ldap.example.org', port: 1636, transport: 'tls', users: { filter: '(uid=%s)' } },
      problems: [],
    });
    expect(from({ ...needed, enable: 'off' })).toEqual({ directory: undefined, problems: [] });
  });

  it.each([
    [{ server_addr: 'h' }, 'user_dn_search_base_dn and user_dn_search_filter are needed'],
    [{ ...needed, user_dn_search_filter: 'uid' }, 'user_dn_search_filter is "uid": expected a filter'],
    [{ ...needed, lookup_bind_dn: 'cn=a' }, 'lookup_bind_password is missing: lookup_bind_dn needs its password'],
    [{ ...needed, server_insecure: 'maybe' }, 'server_insecure is "maybe": expected on or off'],
  ])('%j: %s', (values, problem) => {
    expect(from(values).problems.join(' ')).toContain(problem);
  });

  it('say what a directory was read from', () => {
    const values = { ...needed, lookup_bind_dn: 'cn=a', lookup_bind_password: 'secret', server_starttls: 'on' };
    const { directory } = from(values);
    if (directory === undefined) throw new Error('it is one');
    expect(Object.fromEntries(ldapKeysOf(directory))).toEqual({ enable: 'on', ...values });
    expect(from(Object.fromEntries(ldapKeysOf(directory))).directory).toEqual(directory);
  });
});
