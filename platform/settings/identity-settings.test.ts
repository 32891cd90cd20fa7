import { ProgramError } from '../errors/program-error.ts';
import { describe, expect, it } from 'vitest';
import { loadSettings } from './load-settings.ts';
import { ldapFromKeys, ldapKeys, ldapKeysOf } from './identity-settings.ts';

const load = (env: Record<string, string>, files: Record<string, string> = {}) =>
  loadSettings({
    env: { SVC_ROOT_USER: 'root', SVC_ROOT_PASSWORD: 'root-password', SVC_CONFIG_ENV_FILE: '/env', ...env },
    readFile: (path) => (path === '/env' ? '' : (files[path] ?? '')),
  });

function problems(env: Record<string, string>): readonly string[] {
  try {
    load(env);
    return [];
  } catch (error) {
    return error instanceof ProgramError ? error.message.split('\n') : [String(error)];
  }
}

const directory = {
  SVC_IDENTITY_LDAP_SERVER_ADDR: 'ldap.example.org',
  SVC_IDENTITY_LDAP_USER_DN_SEARCH_BASE_DN: 'ou=people,dc=example,dc=org; ou=guests,dc=example,dc=org',
  SVC_IDENTITY_LDAP_USER_DN_SEARCH_FILTER: '(uid=%s)',
};

describe('a directory', () => {
  it('is reached by TLS, below several places', () => {
    expect(load(directory).ldap).toEqual({
      host: 'ldap.example.org',
      port: 636,
      transport: 'tls',
      skipVerify: false,
      users: { bases: ['ou=people,dc=example,dc=org', 'ou=guests,dc=example,dc=org'], filter: '(uid=%s)' },
    });
  });

  it.each([
    ['SERVER_STARTTLS', 'starttls', 389],
    ['SERVER_INSECURE', 'plain', 389],
  ])('by %s is reached at the plain port', (part, transport, port) => {
    expect(load({ ...directory, [`SVC_IDENTITY_LDAP_${part}`]: 'on' }).ldap).toMatchObject({ transport, port });
  });

  it.each([
    ['[::1]:1389', '::1', 1389],
    ['10.0.0.1:1636', '10.0.0.1', 1636],
  ])('stands at %s', (address, host, port) => {
    expect(load({ ...directory, SVC_IDENTITY_LDAP_SERVER_ADDR: address }).ldap).toMatchObject({ host, port });
  });

  it('takes the names of MinIO, and secrets from files', () => {
    const names = Object.entries(directory).map(([name, value]) => [name.replace('SVC_', 'MINIO_'), value]);
    const more = {
      MINIO_IDENTITY_LDAP_LOOKUP_BIND_DN: 'cn=reader',
      MINIO_IDENTITY_LDAP_LOOKUP_BIND_PASSWORD_FILE: '/p',
    };
    const { ldap } = load({ ...Object.fromEntries(names), ...more }, { '/p': 'secret\n' });
    expect(ldap?.lookup).toEqual({ dn: 'cn=reader', password: 'secret' });
  });

  it.each([
    [
      'a name without its password',
      { SVC_IDENTITY_LDAP_LOOKUP_BIND_DN: 'cn=reader' },
      'LOOKUP_BIND_PASSWORD is missing',
    ],
    ['a filter without the name', { SVC_IDENTITY_LDAP_USER_DN_SEARCH_FILTER: '(uid=ann)' }, '%s for the name'],
    ['bases that name nothing', { SVC_IDENTITY_LDAP_USER_DN_SEARCH_BASE_DN: ' ; ' }, 'are needed'],
    ['an address with ldap://', { SVC_IDENTITY_LDAP_SERVER_ADDR: 'ldap://host' }, 'without ldap://'],
  ])('is refused with %s', (_, more, expected) => {
    expect(problems({ ...directory, ...more }).join('\n')).toContain(expected);
  });
});

describe('client certificates', () => {
  it('need authorities', () => {
    expect(problems({ SVC_IDENTITY_TLS_ENABLE: 'on' }).join()).toContain('CA_FILE is missing');
  });
});

describe('a plugin', () => {
  it('needs a role', () => {
    expect(problems({ SVC_IDENTITY_PLUGIN_URL: 'https://auth.example.org' }).join()).toContain(
      'ROLE_POLICY is missing',
    );
  });

  it('is set up by the names of MinIO', () => {
    const env = {
      MINIO_IDENTITY_PLUGIN_URL: 'https://auth.example.org/check',
      MINIO_IDENTITY_PLUGIN_ROLE_POLICY: 'readonly,writeonly',
      MINIO_IDENTITY_PLUGIN_TOKEN: 'Bearer x',
    };
    expect(load(env).identityPlugin).toEqual({
      url: 'https://auth.example.org/check',
      rolePolicy: ['readonly', 'writeonly'],
      authToken: 'Bearer x',
    });
  });
});

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
    expect(from({ ...needed, enable: 'off' })).toMatchObject({ directory: undefined, problems: [] });
  });

  it.each([
    [{ server_addr: 'h' }, 'user_dn_search_base_dn and user_dn_search_filter are needed'],
    [{ ...needed, user_dn_search_filter: 'uid' }, 'user_dn_search_filter is "uid": expected a filter'],
    [{ ...needed, lookup_bind_dn: 'cn=a' }, 'lookup_bind_password is missing: lookup_bind_dn needs its password'],
    [{ ...needed, server_insecure: 'maybe' }, 'server_insecure is "maybe": expected on or off'],
  ])('%j: %s', (values, issue) => {
    expect(from(values).problems.join(' ')).toContain(issue);
  });

  it('tell a wrong value once', () => {
    expect(from({ ...needed, user_dn_search_filter: 'uid' }).problems).toHaveLength(1);
  });

  it('say what a directory was read from', () => {
    const values = { ...needed, lookup_bind_dn: 'cn=a', lookup_bind_password: 'secret', server_starttls: 'on' };
    const { directory } = from(values);
    if (directory === undefined) throw new Error('it is one');
    expect(Object.fromEntries(ldapKeysOf(directory))).toEqual({ enable: 'on', ...values });
    expect(from(Object.fromEntries(ldapKeysOf(directory))).directory).toEqual(directory);
  });
});
