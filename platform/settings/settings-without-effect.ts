import type { Setting } from '../../protocol/settings/setting.ts';
import { settings } from '../../protocol/settings/table.ts';
import { group, type SettingReader } from './setting-source.ts';

/** Settings that do nothing unless another one switches on what they belong to. */
interface SettingGroup {
  readonly prefix: string;
  /** The end of the name of the setting that switches it on, and the values that do so; any value without them. */
  readonly switch: string;
  readonly values?: { readonly pattern: RegExp; readonly example: string };
}

const groups: readonly SettingGroup[] = [
  { prefix: 'SVC_KMS_KEYSVC_', switch: 'SVC_KMS_KEYSVC_ENDPOINT' },
  { prefix: 'SVC_IDENTITY_LDAP_', switch: 'SVC_IDENTITY_LDAP_SERVER_ADDR' },
  { prefix: 'SVC_IDENTITY_PLUGIN_', switch: 'SVC_IDENTITY_PLUGIN_URL' },
  { prefix: 'SVC_IDENTITY_TLS_', switch: 'SVC_IDENTITY_TLS_ENABLE' },
  {
    prefix: 'SVC_STORE_RECORDS_',
    switch: 'SVC_STORE_RECORDS',
    values: { pattern: /^postgres/, example: 'postgres://…' },
  },
  { prefix: 'SVC_STORE_BLOBS_S3_', switch: 'SVC_STORE_BLOBS', values: { pattern: /^s3:/, example: 's3://…' } },
];

/**
 * Returns a problem for each group of settings whose switch is not set. An administrator who names a key, but no key service, expects
 * encryption. What is switched off by name may keep its settings.
 */
export function settingsWithoutEffect(reader: SettingReader): string[] {
  const rows: readonly Setting[] = settings;
  return groups.flatMap(({ prefix, switch: needed, values }) => {
    const row = rows.find(({ name }) => name === needed);
    if (row === undefined) throw new Error(`no setting ${needed}`);
    const value = reader.has(row) ? reader.read(row) : undefined;
    if (value !== undefined && (values === undefined || (typeof value === 'string' && values.pattern.test(value))))
      return [];
    const own = rows.filter(({ name, scope }) => scope === 'server' && name.startsWith(prefix) && name !== needed);
    if (own.some((one) => one.name === `${prefix}ENABLE` && reader.has(one) && reader.read(one) === false)) return [];
    const given = own.flatMap((one) => reader.given(one)?.variable ?? []);
    if (given.length === 0) return [];
    const expected = values === undefined ? '' : ` to ${values.example}`;
    return [
      `${given.join(', ')} ${given.length === 1 ? 'has' : 'have'} no effect without ${needed}: set it${expected}, or unset ${given.length === 1 ? 'this' : 'these'}`,
    ];
  });
}

/** Returns what contradicts itself in the settings of a directory. */
export function ldapContradictions(reader: SettingReader): string[] {
  const prefix = 'SVC_IDENTITY_LDAP_';
  const read = group(reader, prefix);
  const found: string[] = [];
  const [, port = '0'] = /:(\d{1,5})$/.exec(read.text('SERVER_ADDR') ?? '') ?? [];
  if (Number(port) > 65_535) found.push(`${prefix}SERVER_ADDR: the port ${port} is above 65535`);
  if (read.onOff('SERVER_STARTTLS') && read.onOff('SERVER_INSECURE')) {
    found.push(`${prefix}SERVER_STARTTLS and ${prefix}SERVER_INSECURE exclude each other: switch one of them off`);
  }
  if (read.text('LOOKUP_BIND_DN') === undefined && read.text('LOOKUP_BIND_PASSWORD') !== undefined) {
    found.push(`${prefix}LOOKUP_BIND_PASSWORD has no effect without ${prefix}LOOKUP_BIND_DN: set both, or neither`);
  }
  const [base, filter] = [read.text('GROUP_SEARCH_BASE_DN'), read.text('GROUP_SEARCH_FILTER')];
  if ((base === undefined) !== (filter === undefined)) {
    found.push(
      `${prefix}GROUP_SEARCH_BASE_DN and ${prefix}GROUP_SEARCH_FILTER belong together: without both no user has groups`,
    );
  }
  return found;
}
