import { adminOf } from '../admin-client.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { Context } from '../context.ts';
import { printable } from '../../../platform/text/printable.ts';
import { formatExpiration } from './access-keys.ts';

interface ListedKey {
  readonly accessKey: string;
  readonly parentUser?: string;
  readonly accountStatus?: string;
  readonly name?: string;
  readonly expiration?: string | null;
}

interface KeysOfUser {
  readonly serviceAccounts?: readonly ListedKey[] | null;
  readonly stsKeys?: readonly ListedKey[] | null;
}

interface ListKeysOptions {
  readonly usersOnly?: boolean;
  readonly tempOnly?: boolean;
  readonly svcaccOnly?: boolean;
  readonly self?: boolean;
  readonly all?: boolean;
}

/** Lists access keys and temporary credentials by user: of the named users, of all users, or of the caller. */
export async function listAccessKeys(
  context: Context,
  args: readonly string[],
  options: ListKeysOptions,
): Promise<void> {
  const [alias = '', ...users] = args;
  const admin = await adminOf(context, alias);
  const query = { ...listQuery(users, options), users };
  const found = await admin.decryptedJson<Record<string, KeysOfUser>>({
    method: 'GET',
    call: 'list-access-keys-bulk',
    query,
  });
  print(context, alias, Object.entries(found), options);
}

/** Lists those of LDAP users, by DN. */
export async function listDirectoryKeys(
  context: Context,
  [alias = '', ...users]: readonly string[],
  options: ListKeysOptions,
): Promise<void> {
  const admin = await adminOf(context, alias);
  const found = await admin.decryptedJson<Record<string, KeysOfUser>>({
    method: 'GET',
    call: 'idp/ldap/list-access-keys-bulk',
    query: { ...listQuery(users, options), userDNs: users },
  });
  print(context, alias, Object.entries(found), options);
}

interface ConfigurationKeys {
  readonly configName?: string;
  readonly users?: readonly (KeysOfUser & { readonly ID?: string; readonly readableName?: string })[] | null;
}

/** Lists those of OpenID users, by the readable name. */
export async function listOpenIdKeys(
  context: Context,
  [alias = '', ...users]: readonly string[],
  options: ListKeysOptions,
): Promise<void> {
  const admin = await adminOf(context, alias);
  const found = await admin.decryptedJson<readonly ConfigurationKeys[] | null>({
    method: 'GET',
    call: 'idp/openid/list-access-keys-bulk',
    query: { ...listQuery(users, options), users: users, allConfigs: 'true' },
  });
  const entries = (found ?? []).flatMap(({ configName = '', users }) =>
    (users ?? []).map((user) => [`${user.readableName || user.ID} (${configName})`, user] as const),
  );
  print(context, alias, entries, options);
}

function listQuery(users: readonly string[], options: ListKeysOptions) {
  const kinds = [
    ...(options.usersOnly ? ['users-only'] : []),
    ...(options.tempOnly ? ['sts-only'] : []),
    ...(options.svcaccOnly ? ['svcacc-only'] : []),
  ];
  if (kinds.length > 1)
    throw new ProgramError('BadArgument', 'Give one of --users-only, --temp-only and --svcacc-only');
  if (options.self && (options.all || users.length > 0)) {
    throw new ProgramError('BadArgument', 'Name users, or give one of --self and --all');
  }
  // Stock clients list all users by default.
  const all = options.all === true || (users.length === 0 && options.self !== true);
  return { listType: kinds[0] ?? 'all', ...(all ? { all: 'true' } : {}) };
}

function print(
  context: Context,
  alias: string,
  found: readonly (readonly [string, KeysOfUser])[],
  { usersOnly = false }: ListKeysOptions,
): void {
  const entries = found.toSorted(([a], [b]) => (a < b ? -1 : 1));
  context.output.list(
    tableOf(context, entries, usersOnly) || `There are none. Make one: coffer admin accesskey create ${alias}`,
    entries.map(([user, { serviceAccounts, stsKeys }]) => ({
      user,
      stsKeys: stsKeys ?? null,
      svcaccs: serviceAccounts ?? null,
    })),
  );
}

function tableOf(context: Context, entries: readonly (readonly [string, KeysOfUser])[], usersOnly: boolean): string {
  if (usersOnly) return entries.map(([user]) => printable(user)).join('\n');
  const rows = entries.flatMap(([user, { serviceAccounts, stsKeys }]) => [
    ...(serviceAccounts ?? []).map((key) => rowOf(user, key, 'access key')),
    ...(stsKeys ?? []).map((key) => rowOf(user, key, 'temporary')),
  ]);
  return rows.length === 0
    ? ''
    : context.output.table(['USER', 'ACCESS KEY', 'KIND', 'STATUS', 'EXPIRES', 'NAME'], rows);
}

function rowOf(user: string, { accessKey, accountStatus = 'on', name, expiration }: ListedKey, kind: string): string[] {
  return [user, accessKey, kind, accountStatus, formatExpiration(expiration), name ?? '-'];
}

/** Lists the access keys of one user by the older call, for `user svcacct list`. */
export async function listServiceAccounts(context: Context, [alias = '', user]: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const { accounts } = await admin.decryptedJson<{ readonly accounts?: readonly ListedKey[] | null }>({
    method: 'GET',
    call: 'list-service-accounts',
    query: { user },
  });
  const rows = (accounts ?? []).map((account) => rowOf(user ?? account.parentUser ?? '', account, 'access key'));
  const human =
    rows.length === 0
      ? `There are none. Make one: coffer admin user svcacct add ${alias} ${user ?? 'USER'}`
      : context.output.table(['USER', 'ACCESS KEY', 'KIND', 'STATUS', 'EXPIRES', 'NAME'], rows);
  context.output.list(
    human,
    (accounts ?? []).map(({ accessKey, expiration }) => ({ accessKey, ...(expiration ? { expiration } : {}) })),
  );
}
