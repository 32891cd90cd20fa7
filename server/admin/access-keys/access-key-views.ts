import type { TemporaryCredentials } from '../../auth/temporary-credentials-record.ts';
import { serializePolicy } from '../../../protocol/policy/document.ts';
import type { ServiceAccount } from '../../auth/identities/records.ts';
import { parentName, type Subject } from '../../auth/identities/subject.ts';
import { effectivePolicy, shownInlinePolicy, shownPolicy } from '../../administration/policies.ts';
import { expirationText, never } from '../../administration/service-accounts.ts';
import { optionalField } from '../../administration/optional-field.ts';
import type { AdminServices } from '../../administration/services.ts';
import type { AdminCall } from '../call.ts';
import { adminError } from '../../administration/admin-error.ts';

/** Returns an access key for a list. */
export function listedAccount(account: ServiceAccount, rootUser: string) {
  const { accessKey, name, description, expiration } = account;
  return {
    parentUser: parentName(account.subject, rootUser),
    accountStatus: shownStatus(account),
    impliedPolicy: account.policy === undefined,
    accessKey,
    ...optionalField('name', name),
    ...optionalField('description', description),
    expiration: expiration === undefined ? never : expirationText(expiration),
  };
}

function listedTemporary({ accessKey, principal }: TemporaryCredentials, rootUser: string) {
  return {
    parentUser: parentName(principal.subject, rootUser),
    accountStatus: 'on',
    impliedPolicy: principal.sessionPolicy === undefined,
    accessKey,
    expiration: expirationText(principal.expiration.getTime()),
  };
}

/** Returns an access key without its secret. `policy` is its own policy, else that of its owner. */
export async function shownAccount(
  { identities, root }: Pick<AdminServices, 'identities' | 'root'>,
  account: ServiceAccount,
) {
  const { subject, policy, name, description, expiration } = account;
  return {
    parentUser: parentName(subject, root.user),
    accountStatus: shownStatus(account),
    impliedPolicy: policy === undefined,
    policy: policy === undefined ? shownPolicy(await effectivePolicy(identities, subject)) : shownInlinePolicy(policy),
    ...optionalField('name', name),
    ...optionalField('description', description),
    ...optionalField('comment', description),
    ...optionalField('expiration', expiration === undefined ? undefined : expirationText(expiration)),
  };
}

export async function shownTemporary(
  { identities, root }: Pick<AdminServices, 'identities' | 'root'>,
  { principal }: TemporaryCredentials,
) {
  const { subject, sessionPolicy, expiration } = principal;
  const policy =
    sessionPolicy === undefined
      ? shownPolicy(await effectivePolicy(identities, subject))
      : JSON.stringify(JSON.parse(serializePolicy(sessionPolicy)), null, 1);
  return {
    parentUser: parentName(subject, root.user),
    accountStatus: 'on',
    impliedPolicy: sessionPolicy === undefined,
    policy,
    expiration: expirationText(expiration.getTime()),
  };
}

/** Returns the provider of the owner in the terms of MinIO's clients; `certificate` and `custom` exist only in Coffer. */
export function providerFields(subject: Subject) {
  const federated = subject.kind === 'federated' ? subject : undefined;
  const openid = federated?.source === 'openid' ? federated : undefined;
  return {
    userProvider: federated?.source ?? 'builtin',
    ldapSpecificInfo: { username: federated?.source === 'ldap' ? federated.displayName : '' },
    openIDSpecificInfo: {
      configName: openid?.provider ?? '',
      userID: openid?.subjectId ?? '',
      userIDClaim: openid?.subjectId === undefined ? '' : 'sub',
      ...optionalField('displayName', openid?.displayName),
    },
  };
}

function shownStatus({ status }: ServiceAccount): string {
  return status === 'enabled' ? 'on' : 'off';
}

/** The kinds of access keys in a list, and whether it has owners without any. */
interface ListType {
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
  throw adminError(
    'XCofferInvalidRequest',
    `The parameter listType is one of ${Object.keys(listTypes).join(', ')}, not ${JSON.stringify(type.slice(0, 40))}.`,
  );
}

/** Clients distinguish null from an empty list. */
interface ListedKeys {
  readonly serviceAccounts: readonly object[] | null;
  readonly stsKeys: readonly object[] | null;
}

/** Returns the access keys of an owner; undefined if the list type leaves out owners without any. */
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
