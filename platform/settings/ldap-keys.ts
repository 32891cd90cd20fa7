import { settings } from '../../protocol/settings/table.ts';
import type { Setting } from '../../protocol/settings/setting.ts';
import { type LdapSettings, readLdap } from './identity-settings.ts';
import type { ConfigKey } from './known-keys.ts';
import { SettingReader } from './setting-source.ts';

const prefix = 'SVC_IDENTITY_LDAP_';
const rows: readonly Setting[] = settings;

/** The keys of `admin idp ldap`, in the order of the settings that they are in the environment. */
export const ldapKeys: readonly ConfigKey[] = rows.flatMap((row) => {
  const [key, ...synonyms] = row.name.startsWith(prefix) ? (row.configKeys ?? []) : [];
  return key === undefined ? [] : [{ key, synonyms, row }];
});

/** The directory that these keys make, as the same ones in the environment would; problems name keys instead of variables. */
export function ldapFromKeys(values: ReadonlyMap<string, string>): {
  readonly directory: LdapSettings | undefined;
  readonly problems: readonly string[];
} {
  const variables = new Map<string, string>();
  for (const { key, row } of ldapKeys) {
    const value = values.get(key);
    if (value !== undefined) variables.set(row.name, value);
  }
  const reader = new SettingReader({ variables, readFile: noFile });
  const directory = readLdap(reader);
  return { directory, problems: reader.problems.map(withKeys) };
}

/** Values come by the keys alone. */
function noFile(path: string): string {
  throw new Error(`${path} is not read`);
}

function withKeys(problem: string): string {
  return ldapKeys
    .toSorted((a, b) => b.row.name.length - a.row.name.length)
    .reduce((text, { key, row }) => text.replaceAll(row.name, key), problem);
}

/** The keys and values that stand for a directory which was read from the environment. */
export function ldapKeysOf(directory: LdapSettings): Map<string, string> {
  const { host, port, transport, skipVerify, caFile, lookup, users, groups } = directory;
  const texts: Readonly<Record<string, string | undefined>> = {
    enable: 'on',
    server_addr: `${host.includes(':') ? `[${host}]` : host}:${port}`,
    lookup_bind_dn: lookup?.dn,
    lookup_bind_password: lookup?.password,
    user_dn_search_base_dn: users.bases.join(';'),
    user_dn_search_filter: users.filter,
    group_search_base_dn: groups?.bases.join(';'),
    group_search_filter: groups?.filter,
    ca_file: caFile,
    tls_skip_verify: skipVerify ? 'on' : undefined,
    server_starttls: transport === 'starttls' ? 'on' : undefined,
    server_insecure: transport === 'plain' ? 'on' : undefined,
  };
  return new Map(
    ldapKeys.flatMap(({ key }) => {
      const value = texts[key];
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
}
