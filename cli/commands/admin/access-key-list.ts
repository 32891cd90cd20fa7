import { adminOf } from '../../admin/admin-client.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { textTable } from '../../terminal/text-table.ts';
import { shownExpiration } from './access-keys.ts';

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

export interface ListKeysOptions {
  readonly usersOnly?: boolean;
  readonly tempOnly?: boolean;
  readonly svcaccOnly?: boolean;
  readonly self?: boolean;
  readonly all?: boolean;
}

/** Access keys of either kind, by user: of those named, of everybody, or of the caller. */
export async function listAccessKeys(
  context: Context,
  [alias = '', ...users]: readonly string[],
  options: ListKeysOptions,
): Promise<void> {
  const kinds = [
    ...(options.usersOnly ? ['users-only'] : []),
    ...(options.tempOnly ? ['sts-only'] : []),
    ...(options.svcaccOnly ? ['svcacc-only'] : []),
  ];
  if (kinds.length > 1) throw new CliError('BadArgument', 'Give one of --users-only, --temp-only and --svcacc-only');
  if (options.self && (options.all || users.length > 0)) {
    throw new CliError('BadArgument', 'Name users, or give one of --self and --all');
  }
  const admin = await adminOf(context, alias);
  // As stock clients: without a word about whom, everybody.
  const all = options.all === true || (users.length === 0 && options.self !== true);
  const found = await admin.openedJson<Record<string, KeysOfUser>>({
    method: 'GET',
    call: 'list-access-keys-bulk',
    query: { listType: kinds[0] ?? 'all', users, ...(all ? { all: 'true' } : {}) },
  });
  const entries = Object.entries(found).toSorted(([a], [b]) => (a < b ? -1 : 1));
  context.output.list(
    tableOf(entries, options.usersOnly === true) || `There are none. Make one: coffer admin accesskey create ${alias}`,
    entries.map(([user, { serviceAccounts, stsKeys }]) => ({
      user,
      stsKeys: stsKeys ?? null,
      svcaccs: serviceAccounts ?? null,
    })),
  );
}

function tableOf(entries: readonly (readonly [string, KeysOfUser])[], usersOnly: boolean): string {
  if (usersOnly) return entries.map(([user]) => user).join('\n');
  const rows = entries.flatMap(([user, { serviceAccounts, stsKeys }]) => [
    ...(serviceAccounts ?? []).map((key) => rowOf(user, key, 'access key')),
    ...(stsKeys ?? []).map((key) => rowOf(user, key, 'temporary')),
  ]);
  return rows.length === 0 ? '' : textTable(['USER', 'ACCESS KEY', 'KIND', 'STATUS', 'EXPIRES', 'NAME'], rows);
}

function rowOf(user: string, { accessKey, accountStatus = 'on', name, expiration }: ListedKey, kind: string): string[] {
  return [user, accessKey, kind, accountStatus, shownExpiration(expiration), name ?? '-'];
}

/** Access keys of one user in the older form: `user svcacct list`. */
export async function listServiceAccounts(context: Context, [alias = '', user]: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const { accounts } = await admin.openedJson<{ readonly accounts?: readonly ListedKey[] | null }>({
    method: 'GET',
    call: 'list-service-accounts',
    query: { user },
  });
  const rows = (accounts ?? []).map((account) => rowOf(user ?? account.parentUser ?? '', account, 'access key'));
  const human =
    rows.length === 0
      ? `There are none. Make one: coffer admin user svcacct add ${alias} ${user ?? 'USER'}`
      : textTable(['USER', 'ACCESS KEY', 'KIND', 'STATUS', 'EXPIRES', 'NAME'], rows);
  context.output.list(
    human,
    (accounts ?? []).map(({ accessKey, expiration }) => ({ accessKey, ...(expiration ? { expiration } : {}) })),
  );
}
