import { beforeEach, describe, expect, it } from 'vitest';
import type { LdapSettings } from '../../../platform/settings/identity-settings.ts';
import { configuredDirectory } from '../ldap/configured-directory.ts';
import type { LdapDirectory } from '../ldap/ldap-directory.ts';
import { ldapUserPolicies, type LdapUserPolicies } from '../ldap/ldap-user.ts';
import { IdentityError } from '../../auth/identity-error.ts';
import { testIdentities } from '../../../test/support/auth/identities.ts';
import type { IdentityProviderConfigurations, SaveMode } from './provider-configurations.ts';
import { ldapConfigurations, storedDirectory } from './ldap-configurations.ts';
import { storedConfigurations, type StoredConfigurations } from './stored-configurations.ts';

const needed = {
  server_addr: 'ldap.example.org',
  lookup_bind_dn: 'cn=reader,dc=org',
  lookup_bind_password: 'hunter2',
  user_dn_search_base_dn: 'dc=org',
  user_dn_search_filter: '(uid=%s)',
};
const environment: LdapSettings = {
  host: 'fixed',
  port: 636,
  transport: 'tls',
  skipVerify: false,
  users: { bases: ['dc=org'], filter: '(uid=%s)' },
};

let stored: StoredConfigurations;
let rights: LdapUserPolicies;
let ldap: IdentityProviderConfigurations;
let probed: string[];
let broken: boolean;

beforeEach(async () => {
  [probed, broken] = [[], false];
  const { records, identities } = await testIdentities();
  rights = ldapUserPolicies(identities);
  stored = storedConfigurations(records, () => new Date('2026-01-01T00:00:00Z'));
  ldap = open();
});

function open(fixed?: LdapSettings): IdentityProviderConfigurations {
  return ldapConfigurations({
    stored,
    environment: fixed,
    rights,
    probe: async ({ host }) => {
      probed.push(host);
      if (broken) throw new IdentityError('directory-unavailable', 'The directory cannot be asked now.');
    },
  });
}

const save = (values: Record<string, string>, mode: SaveMode = 'add', name = '_') =>
  ldap.save(name, new Map(Object.entries(values)), mode);

describe('the configuration of the directory', () => {
  it('is tried, saved, and shown without its password', async () => {
    expect(await save(needed)).toEqual({ applied: true });
    expect(probed).toEqual(['ldap.example.org']);
    const details = await ldap.get('_');
    expect(details).toMatchObject({ name: '_', enabled: true, origin: 'stored' });
    expect(details?.values).toContainEqual({ key: 'lookup_bind_password', value: '*REDACTED*' });
    expect(JSON.stringify(details)).not.toContain('hunter2');
  });

  it('is changed by key; a password that comes back redacted stays', async () => {
    await save(needed);
    await save({ lookup_bind_password: '*REDACTED*', server_addr: 'other' }, 'update');
    const [{ values } = { values: new Map() }] = await stored.list('identity_ldap');
    expect(Object.fromEntries(values)).toEqual({ ...needed, server_addr: 'other' });
    await save({ enable: 'off' }, 'update');
    expect(await ldap.list()).toMatchObject([{ enabled: false }]);
    expect(probed).toEqual(['ldap.example.org', 'other']);
  });

  it('is removed', async () => {
    await save(needed);
    await ldap.remove('_');
    expect(await ldap.list()).toEqual([]);
  });

  it('is not saved where the directory does not answer', async () => {
    broken = true;
    await expect(save(needed)).rejects.toMatchObject({ code: 'unusable-provider' });
    expect(await ldap.list()).toEqual([]);
  });

  it.each([
    ['add', needed, 'configuration-exists'],
    ['update', { user_dn_search_filter: 'uid' }, 'invalid-configuration'],
    ['update', { server_addr: '' }, 'invalid-configuration'],
    ['update', { colour: 'red' }, 'invalid-configuration'],
    ['update', { lookup_bind_password: '' }, 'invalid-configuration'],
  ] as const)('once there, %s %j is refused as %s', async (mode, values, code) => {
    await save(needed);
    await expect(save(values, mode)).rejects.toMatchObject({ code });
  });

  it('has no name, and is not changed before it is there', async () => {
    await expect(save(needed, 'add', 'second')).rejects.toMatchObject({ code: 'invalid-configuration' });
    await expect(save(needed, 'update')).rejects.toMatchObject({ code: 'no-such-configuration' });
    await expect(ldap.remove('_')).rejects.toMatchObject({ code: 'no-such-configuration' });
  });

  it('of the environment is shown, and changed there alone', async () => {
    ldap = open(environment);
    expect(await ldap.get('_')).toMatchObject({ origin: 'environment', enabled: true });
    await expect(save(needed)).rejects.toMatchObject({ code: 'from-environment' });
    await expect(ldap.remove('_')).rejects.toMatchObject({ code: 'from-environment' });
  });
});

const named = ({ host }: LdapSettings) =>
  Promise.resolve({
    find: (name: string) => Promise.resolve({ name, dn: host, groups: [] }),
  } as unknown as LdapDirectory);
const asked = async (directory: LdapDirectory) => (await directory.find('ann'))?.dn;

describe('the directory that is asked', () => {
  it('is the one that is configured at each question', async () => {
    const directory = configuredDirectory({ stored: storedDirectory(stored), open: named });
    await expect(directory.find('ann')).rejects.toMatchObject({ code: 'no-directory' });
    await save(needed);
    expect(await asked(directory)).toBe('ldap.example.org');
    await save({ server_addr: 'other' }, 'update');
    expect(await asked(directory)).toBe('other');
    await save({ enable: 'off' }, 'update');
    await expect(directory.find('ann')).rejects.toMatchObject({ code: 'no-directory' });
  });

  it('is that of the environment where it has one', async () => {
    await save(needed);
    expect(await asked(configuredDirectory({ environment, stored: storedDirectory(stored), open: named }))).toBe(
      'fixed',
    );
  });
});
