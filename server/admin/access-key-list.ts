import { AdminError } from './admin-error.ts';
import type { AdminCall } from './route.ts';
import { listedAccount, listedTemporary } from './service-account-shape.ts';

/** What of somebody's is listed, and whether people who have none of it are. */
export interface ListType {
  readonly accounts: boolean;
  readonly temporary: boolean;
  readonly all: boolean;
}

const listTypes: Readonly<Record<string, ListType>> = {
  all: { accounts: true, temporary: true, all: true },
  'users-only': { accounts: false, temporary: false, all: true },
  'svcacc-only': { accounts: true, temporary: false, all: false },
  'sts-only': { accounts: false, temporary: true, all: false },
};

export function listTypeOf({ query }: AdminCall): ListType {
  const type = query.get('listType') ?? '';
  const listed = Object.hasOwn(listTypes, type) ? listTypes[type] : undefined;
  if (listed !== undefined) return listed;
  throw new AdminError(
    'XCofferInvalidRequest',
    `The parameter listType is one of ${Object.keys(listTypes).join(', ')}, not ${JSON.stringify(type.slice(0, 40))}.`,
  );
}

/** Clients tell an empty list from none. */
export interface ListedKeys {
  readonly serviceAccounts: readonly object[] | null;
  readonly stsKeys: readonly object[] | null;
}

/** The access keys of an owner; undefined where the type leaves out who has none. */
export async function keysOf(call: AdminCall, owner: string, listed: ListType): Promise<ListedKeys | undefined> {
  const serviceAccounts = listed.accounts ? await accountsOf(call, owner) : [];
  const stsKeys = listed.temporary ? await temporaryOf(call, owner) : [];
  if (!listed.all && serviceAccounts.length + stsKeys.length === 0) return undefined;
  return { serviceAccounts: orNull(serviceAccounts), stsKeys: orNull(stsKeys) };
}

async function accountsOf({ services }: AdminCall, owner: string): Promise<object[]> {
  const found: object[] = [];
  for await (const account of services.identities.serviceAccounts(owner)) {
    found.push(listedAccount(account, services.root.user));
  }
  return found;
}

async function temporaryOf({ services }: AdminCall, owner: string): Promise<object[]> {
  const found: object[] = [];
  for await (const credentials of services.temporary.ofOwner(owner)) {
    found.push(listedTemporary(credentials, services.root.user));
  }
  return found;
}

function orNull(values: readonly object[]): readonly object[] | null {
  return values.length === 0 ? null : values;
}
