import { S3Error } from '../../protocol/s3/s3-error.ts';
import { normalizeDn } from '../federation/ldap/distinguished-name.ts';
import type { ArchivedUsers } from '../federation/archived-users.ts';
import { ldapSubject } from '../federation/ldap/ldap-user.ts';
import type { NewServiceAccount, Identities } from '../auth/identities/identities.ts';
import { type FederatedSubject, type AttachmentTarget, ownerOf } from '../auth/identities/subject.ts';
import { IdentityError } from '../auth/identity-error.ts';
import { isExternalUserHash } from '../auth/identities/names.ts';
import { type Archive, ImportReport } from './identity-archive.ts';
import { builtInPolicies } from '../../protocol/policy/built-in-policies.ts';
import { type Caller, isUnrestrictedRoot, mayAttach, mayOneOf } from './caller.ts';
import { expirationOf, policyOfNewKey, givenPolicy, statusOf } from './service-accounts.ts';
import { optionalField } from './optional-field.ts';
import { policyNames, samePolicy } from './policies.ts';
import { adminError, isAdminError } from './admin-error.ts';
import type { RequestError } from '../../protocol/request-error.ts';

type AccountEntry = NonNullable<Archive['serviceAccounts']>[string];

/**
 * Returns the owner of an archived access key. Coffer's archives contain it; MinIO's have only the parent. A DN is a directory user with
 * the groups that MinIO found, and a hash is a user of an OpenID provider. Any other name is a user, who may be missing.
 */
async function importedSubject(
  entry: AccountEntry,
  { rootUser, archivedUsers, policiesOfHashes }: ImportOptions & { readonly policiesOfHashes: PoliciesOfHashes },
): Promise<NewServiceAccount['subject']> {
  const { parent, groups, claims, cofferSubject } = entry;
  if (cofferSubject !== undefined) return checked(cofferSubject);
  if (parent === rootUser) return { kind: 'root' };
  if (isExternalUserHash(parent) && archivedUsers !== undefined) {
    return archivedUsers.subjectOf({ parent, claims: claims ?? {}, policies: policiesOfHashes.get(parent) ?? [] });
  }
  const dn = normalizeDn(parent);
  if (dn === undefined) return { kind: 'user', name: parent };
  const name = claims?.['ldapUsername'];
  return ldapSubject({
    name: typeof name === 'string' ? name : parent,
    dn,
    groups: (groups ?? []).map((group) => normalizeDn(group)).filter((group) => group !== undefined),
  });
}

/** An external user's name must have the form of its provider. Otherwise it could be that of a user or of root. */
function checked(subject: NewServiceAccount['subject']): NewServiceAccount['subject'] {
  if (subject.kind !== 'federated' || isExternalName(subject)) return subject;
  const name = JSON.stringify(subject.parent.slice(0, 128));
  throw new S3Error('InvalidArgument', `${name} is no name of an external user of the kind ${subject.source}.`);
}

function isExternalName({ source, parent }: FederatedSubject): boolean {
  switch (source) {
    case 'openid':
      return isExternalUserHash(parent);
    case 'ldap':
      return normalizeDn(parent) === parent;
    case 'certificate':
      return parent.startsWith('tls:');
    case 'custom':
      return parent.startsWith('custom:');
    default:
      return source satisfies never;
  }
}

/** The policies that MinIO gave users of OpenID providers at their last sign-in. They are not attachments: the next sign-in replaces them. */
type PoliciesOfHashes = ReadonlyMap<string, readonly string[]>;

interface ImportOptions {
  readonly identities: Identities;
  readonly archivedUsers?: ArchivedUsers | undefined;
  readonly rootUser: string;
  /** Each entry needs the right of the single call. Only root imports access keys of root. */
  readonly caller: Caller;
}

/**
 * Imports an archive; its entries replace existing ones of the same name. Each entry is a change of its own: the report lists failures, and
 * the others are imported. An import can be repeated.
 */
export async function importIdentities(archive: Archive, options: ImportOptions): Promise<ImportReport> {
  const { identities } = options;
  const report = new ImportReport();
  const directoryMappings = Object.entries(archive.directoryMappings ?? {});
  const policiesOfHashes: PoliciesOfHashes = new Map(
    directoryMappings
      .filter(([name]) => isExternalUserHash(name))
      .map(([name, { policy }]) => [name, policyNames(policy)]),
  );
  const require = await rightsOf(options.caller);
  for (const [name, document] of Object.entries(archive.policies ?? {})) {
    await attempt(report, 'policies', name, () => importPolicy(identities, name, document, require));
  }
  for (const [accessKey, { secretKey, status }] of Object.entries(archive.users ?? {})) {
    await attempt(report, 'users', accessKey, async () => {
      require('createUser');
      if (secretKey === undefined && (await identities.user(accessKey)) === undefined)
        throw missingSecretKey(accessKey);
      await identities.putUser({
        accessKey,
        ...optionalField('secretKey', secretKey),
        status: statusOf(status ?? 'enabled'),
      });
    });
  }
  for (const [name, group] of Object.entries(archive.groups ?? {})) {
    await attempt(report, 'groups', name, async () => {
      const members = group.members ?? [];
      require('changeMembers', 'changeGroupStatus');
      const known = await Promise.all(members.map(async (member) => (await identities.user(member)) !== undefined));
      await identities.addMembers(
        name,
        members.filter((_, at) => known[at]),
      );
      await identities.setGroupStatus(name, statusOf(group.status ?? 'enabled'));
      for (const member of members.filter((_, at) => !known[at])) report.leftOut(name, member);
    });
  }
  for (const [accessKey, entry] of Object.entries(archive.serviceAccounts ?? {})) {
    await attempt(report, 'serviceAccounts', accessKey, () =>
      importAccount({ ...options, policiesOfHashes }, accessKey, entry, require),
    );
  }
  const attach = (
    kind: 'userPolicies' | 'groupPolicies' | 'stsPolicies',
    target: AttachmentTarget,
    policies: readonly string[],
  ) =>
    attempt(
      report,
      kind,
      'name' in target ? target.name : `${target.claim}=${target.value}`,
      async () => {
        require('attach');
        await identities.setAttached(target, policies);
      },
      policies,
    );
  for (const [name, { policy }] of Object.entries(archive.userMappings ?? {})) {
    await attach('userPolicies', { kind: 'user', name }, policyNames(policy));
  }
  for (const [name, { policy }] of Object.entries(archive.groupMappings ?? {})) {
    await attach('groupPolicies', await groupTarget(identities, name), policyNames(policy));
  }
  for (const [name, { policy }] of directoryMappings.filter(([name]) => !policiesOfHashes.has(name))) {
    await attach('stsPolicies', { kind: 'ldap-user', name: normalizeDn(name) ?? name }, policyNames(policy));
  }
  for (const { target, policies } of archive.attachments ?? []) {
    if (target.kind === 'claim') await attach('stsPolicies', target, policies);
  }
  return report;
}

/** The rights of an import. One action of each list is enough. */
const rightsOfImport = {
  createPolicy: ['admin:CreatePolicy'],
  createUser: ['admin:CreateUser'],
  changeMembers: ['admin:AddUserToGroup'],
  changeGroupStatus: ['admin:EnableGroup'],
  createAccount: ['admin:CreateServiceAccount'],
  updateAccount: ['admin:UpdateServiceAccount'],
  attach: mayAttach,
} as const;

/** Throws if the caller lacks one of these rights. */
type Require = (...rights: readonly (keyof typeof rightsOfImport)[]) => void;

/** Checks the rights before the first change, so that no imported entry adds rights for the next one. */
async function rightsOf(caller: Caller): Promise<Require> {
  const missing = new Set<string>();
  for (const [right, actions] of Object.entries(rightsOfImport)) {
    if (!(await mayOneOf(caller, actions))) missing.add(right);
  }
  return (...rights) => {
    const lacking = rights.find((right) => missing.has(right));
    if (lacking === undefined) return;
    const actions = rightsOfImport[lacking].join(' or ');
    throw new S3Error('AccessDenied', `Access denied: besides admin:ImportIAM this needs ${actions}.`);
  };
}

function missingSecretKey(name: string): RequestError {
  return adminError(
    'XCofferInvalidRequest',
    `The archive holds no secret key of ${name}, and there is none of that name here: the export withheld it from a caller without the right.`,
  );
}

/** Records errors of an entry in the report and continues. An unavailable store ends the import. */
async function attempt(
  report: ImportReport,
  kind: Parameters<ImportReport['added']>[0],
  name: string,
  change: () => Promise<unknown>,
  policies?: readonly string[],
): Promise<void> {
  try {
    await change();
    report.added(kind, name, policies);
  } catch (error) {
    if (error instanceof IdentityError && error.code.startsWith('no-such-'))
      report.skipped(kind, name, policies, error);
    else if (error instanceof IdentityError || isAdminError(error) || error instanceof S3Error) {
      report.failed(kind, name, policies, error);
    } else throw error;
  }
}

/** Skips a built-in policy that is unchanged. */
async function importPolicy(identities: Identities, name: string, document: unknown, require: Require): Promise<void> {
  const text = JSON.stringify(document);
  const builtIn = builtInPolicies.get(name);
  if (builtIn !== undefined && samePolicy(text, builtIn)) return;
  require('createPolicy');
  await identities.putPolicy(name, text);
}

async function importAccount(
  options: ImportOptions & { readonly policiesOfHashes: PoliciesOfHashes },
  accessKey: string,
  entry: AccountEntry,
  require: Require,
): Promise<void> {
  const { identities, caller } = options;
  const subject = await importedSubject(entry, options);
  if (subject.kind === 'root' && !isUnrestrictedRoot(caller.principal)) {
    throw new S3Error(
      'AccessDenied',
      `The access key ${accessKey} belongs to the root user, and only root imports it.`,
    );
  }
  const known = await identities.serviceAccount(accessKey);
  require(known === undefined ? 'createAccount' : 'updateAccount');
  // The archive contains policies, groups and claims of an external user. To import them is to attach rights.
  if (known === undefined && subject.kind === 'federated') require('attach');
  const policy = givenPolicy(entry.sessionPolicy) ?? undefined;
  const expiration = expirationOf(entry.expiration) ?? undefined;
  const status = statusOf(entry.status ?? 'on');
  const [name, description] = [entry.name || undefined, entry.description || undefined];
  if (known === undefined) {
    const { secretKey } = entry;
    if (secretKey === undefined) throw missingSecretKey(accessKey);
    await identities.createServiceAccount({
      subject,
      accessKey,
      secretKey,
      status,
      ...optionalField('policy', policyOfNewKey(caller, subject, policy)),
      ...optionalField('name', name),
      ...optionalField('description', description),
      ...optionalField('expiration', expiration),
    });
    return;
  }
  if (ownerOf(known.subject) !== ownerOf(subject)) {
    throw new IdentityError('access-key-in-use', `The access key ${accessKey} belongs to another owner here.`);
  }
  await identities.updateServiceAccount(accessKey, {
    ...optionalField('secretKey', entry.secretKey),
    status,
    policy: policy ?? null,
    name: name ?? null,
    description: description ?? null,
    expiration: expiration ?? null,
  });
}

/** A DN is a directory group unless a group here has that name. */
async function groupTarget(identities: Identities, name: string): Promise<AttachmentTarget> {
  const dn = (await identities.group(name)) === undefined ? normalizeDn(name) : undefined;
  return dn === undefined ? { kind: 'group', name } : { kind: 'ldap-group', name: dn };
}
