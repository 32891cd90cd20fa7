import { group, SettingReader } from './setting-source.ts';
import { ldapContradictions } from './settings-without-effect.ts';
import { settings } from '../../protocol/settings/table.ts';
import type { Setting } from '../../protocol/settings/setting.ts';
import type { ConfigKey } from './config-subsystems.ts';

/** A directory whose users can sign in. */
export interface LdapSettings {
  readonly host: string;
  readonly port: number;
  readonly transport: 'tls' | 'starttls' | 'plain';
  readonly skipVerify: boolean;
  readonly caFile?: string;
  /** The account that searches users; anonymous without it. */
  readonly lookup?: { readonly dn: string; readonly password: string };
  readonly users: LdapSearch;
  /** Without it no user has groups. */
  readonly groups?: LdapSearch;
}

export interface LdapSearch {
  readonly bases: readonly string[];
  /** `%s` is the name of the user and `%d` the DN. */
  readonly filter: string;
}

/** Client certificates with which programs can sign in. */
export interface ClientCertificateSettings {
  readonly skipVerify: boolean;
  readonly caFile?: string;
}

/** A service that verifies tokens. */
export interface IdentityPluginSettings {
  readonly url: string;
  /** The value of the header Authorization. */
  readonly authToken?: string;
  readonly rolePolicy: readonly string[];
  readonly roleId?: string;
  readonly caFile?: string;
}

interface IdentitySources {
  readonly ldap?: LdapSettings;
  readonly clientCertificates?: ClientCertificateSettings;
  readonly identityPlugin?: IdentityPluginSettings;
}

/** Reads the sources that are configured. The reader collects the problems. */
export function readIdentitySources(reader: SettingReader): IdentitySources {
  const ldap = readLdap(reader);
  if (ldap !== undefined) reader.problems.push(...ldapContradictions(reader));
  const clientCertificates = readClientCertificates(reader);
  const identityPlugin = readPlugin(reader);
  return {
    ...(ldap === undefined ? {} : { ldap }),
    ...(clientCertificates === undefined ? {} : { clientCertificates }),
    ...(identityPlugin === undefined ? {} : { identityPlugin }),
  };
}

/** Returns undefined if no directory is configured, or it is switched off. The reader collects the problems. */
function readLdap(reader: SettingReader): LdapSettings | undefined {
  const prefix = 'SVC_IDENTITY_LDAP_';
  const read = group(reader, prefix);
  const address = read.text('SERVER_ADDR');
  if (address === undefined || !read.onOff('ENABLE')) return undefined;
  const transport = read.onOff('SERVER_STARTTLS') ? 'starttls' : read.onOff('SERVER_INSECURE') ? 'plain' : 'tls';
  const [, host = '', port] = /^(.*?)(?::(\d{1,5}))?$/.exec(address) ?? [];
  const users = readSearch(reader, prefix, 'USER_DN');
  const groups = readSearch(reader, prefix, 'GROUP');
  if (users === undefined) requireUserSearch(reader, prefix);
  const [dn, password] = [read.text('LOOKUP_BIND_DN'), read.text('LOOKUP_BIND_PASSWORD')];
  // Directories accept a bind without a password as anonymous, and report success.
  if (dn !== undefined) {
    const problem = `${prefix}LOOKUP_BIND_PASSWORD is missing: ${prefix}LOOKUP_BIND_DN needs its password`;
    read.require('LOOKUP_BIND_PASSWORD', problem);
  }
  if (users === undefined) return undefined;
  return {
    host: host.replace(/^\[(.*)\]$/, '$1'),
    port: port === undefined ? (transport === 'tls' ? 636 : 389) : Number(port),
    transport,
    skipVerify: read.onOff('TLS_SKIP_VERIFY'),
    ...read.optional('caFile', 'CA_FILE'),
    ...(dn === undefined || password === undefined ? {} : { lookup: { dn, password } }),
    users,
    ...(groups === undefined ? {} : { groups }),
  };
}

function requireUserSearch(reader: SettingReader, prefix: string): void {
  const read = group(reader, prefix);
  const problem = `${prefix}USER_DN_SEARCH_BASE_DN and ${prefix}USER_DN_SEARCH_FILTER are needed: nobody can be found without them`;
  const absent = ['USER_DN_SEARCH_BASE_DN', 'USER_DN_SEARCH_FILTER'].find((part) => read.text(part) === undefined);
  // A base of separators alone is given, and names nothing.
  if (absent === undefined) reader.problems.push(problem);
  else read.require(absent, problem);
}

function readSearch(reader: SettingReader, prefix: string, what: string): LdapSearch | undefined {
  const read = group(reader, prefix);
  const filter = read.text(`${what}_SEARCH_FILTER`);
  const bases = (read.text(`${what}_SEARCH_BASE_DN`) ?? '')
    .split(';')
    .map((base) => base.trim())
    .filter((base) => base !== '');
  return filter === undefined || bases.length === 0 ? undefined : { bases, filter };
}

function readClientCertificates(reader: SettingReader): ClientCertificateSettings | undefined {
  const read = group(reader, 'SVC_IDENTITY_TLS_');
  if (!read.onOff('ENABLE')) return undefined;
  const [skipVerify, caFile] = [read.onOff('SKIP_VERIFY'), read.text('CA_FILE')];
  if (caFile === undefined && !skipVerify) {
    reader.problems.push('SVC_IDENTITY_TLS_CA_FILE is missing: name the authorities that may sign client certificates');
  }
  return { skipVerify, ...(caFile === undefined ? {} : { caFile }) };
}

function readPlugin(reader: SettingReader): IdentityPluginSettings | undefined {
  const read = group(reader, 'SVC_IDENTITY_PLUGIN_');
  const url = read.text('URL');
  if (url === undefined || !read.onOff('ENABLE')) return undefined;
  const rolePolicy = read.list('ROLE_POLICY');
  if (rolePolicy.length === 0) {
    reader.problems.push(
      'SVC_IDENTITY_PLUGIN_ROLE_POLICY is missing: name the policies of those whom the plugin lets in',
    );
  }
  return {
    url,
    ...read.optional('authToken', 'AUTH_TOKEN'),
    rolePolicy,
    ...read.optional('roleId', 'ROLE_ID'),
    ...read.optional('caFile', 'CA_FILE'),
  };
}

const prefix = 'SVC_IDENTITY_LDAP_';
const rows: readonly Setting[] = settings;

/** The keys of `admin idp ldap`, in the order of their settings. */
export const ldapKeys: readonly ConfigKey[] = rows.flatMap((row) => {
  const [key, ...synonyms] = row.name.startsWith(prefix) ? (row.configKeys ?? []) : [];
  return key === undefined ? [] : [{ key, synonyms, row }];
});

/** Reads a directory from keys, as the environment would give it. Problems name keys instead of variables. */
export function ldapFromKeys(values: ReadonlyMap<string, string>): {
  readonly directory: LdapSettings | undefined;
  readonly problems: readonly string[];
  /** The settings that contradict each other. A directory that is stored already works all the same. */
  readonly contradictions: readonly string[];
} {
  const variables = new Map<string, string>();
  for (const { key, row } of ldapKeys) {
    const value = values.get(key);
    if (value !== undefined) variables.set(row.name, value);
  }
  const reader = new SettingReader({ variables, readFile: noFile });
  const directory = readLdap(reader);
  const contradictions = directory === undefined ? [] : ldapContradictions(reader);
  return { directory, problems: reader.problems.map(withKeys), contradictions: contradictions.map(withKeys) };
}

/** The keys have no files. */
function noFile(path: string): string {
  throw new Error(`${path} is not read`);
}

function withKeys(issue: string): string {
  return ldapKeys
    .toSorted((a, b) => b.row.name.length - a.row.name.length)
    .reduce((text, { key, row }) => text.replaceAll(row.name, key), issue);
}

/** Writes a directory of the environment as keys and values. */
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
