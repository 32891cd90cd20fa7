import { S3Error } from '../../protocol/s3/s3-error.ts';
import { normalizeDn } from '../federation/ldap/distinguished-name.ts';
import { ldapSubject } from '../federation/ldap/ldap-user.ts';
import type { NewServiceAccount, Identities } from '../auth/identities/identities.ts';
import { type FederatedSubject, type AttachmentTarget, ownerOf } from '../auth/identities/subject.ts';
import { isPersonHash, IdentityError } from '../auth/identities/names.ts';
import { type Archive, ImportReport } from './identity-archive.ts';
import { builtInPolicies } from '../../protocol/policy/built-in-policies.ts';
import { AdminError } from './admin-error.ts';
import { type Caller, isWholeRoot, mayAttach, mayOneOf } from './caller.ts';
import { expirationOf, policyOfNewKey, givenPolicy, statusOf } from './service-accounts.ts';
import { optionalField } from './optional-field.ts';
import { policyNames, samePolicy } from './policies.ts';

type AccountEntry = NonNullable<Archive['serviceAccounts']>[string];

/**
 * Whose an access key of an archive is: ours say it, MinIO's name the parent alone. A distinguished name is a person of the directory, with
 * the groups that MinIO found; no user here has one. Any other name is taken for a user, who may be missing.
 */
function importedSubject(entry: AccountEntry, rootUser: string): NewServiceAccount['subject'] {
  const { parent, groups, claims, cofferSubject } = entry;
  if (cofferSubject !== undefined) return checked(cofferSubject);
  if (parent === rootUser) return { kind: 'root' };
  const dn = normalizeDn(parent);
  if (dn === undefined) return { kind: 'user', name: parent };
  const name = claims?.['ldapUsername'];
  return ldapSubject({
    name: typeof name === 'string' ? name : parent,
    dn,
    groups: (groups ?? []).map((group) => normalizeDn(group)).filter((group) => group !== undefined),
  });
}

/** The name of a person of a provider must have the form that this provider gives: any other could be a user's, or call the owner root. */
function checked(subject: NewServiceAccount['subject']): NewServiceAccount['subject'] {
  if (subject.kind !== 'federated' || namesPerson(subject)) return subject;
  const name = JSON.stringify(subject.parent.slice(0, 128));
  throw new S3Error(
    'InvalidArgument',
    `${name} is no name of a person whom a provider of the kind ${subject.source} has.`,
  );
}

function namesPerson({ source, parent }: FederatedSubject): boolean {
  switch (source) {
    case 'openid':
      return isPersonHash(parent);
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

interface ImportOptions {
  readonly identities: Identities;
  readonly rootUser: string;
  /** Each entry takes the right that the call for it alone takes. Access keys of root come from root alone. */
  readonly caller: Caller;
}

/**
 * Adds what the archive holds to what is there; of the same name, the archive's takes its place. Each is a change by itself: what
 * cannot be taken is told in the report, and the others are there. To import again is no harm.
 */
export async function importIdentities(archive: Archive, options: ImportOptions): Promise<ImportReport> {
  const { identities } = options;
  const report = new ImportReport();
  const require = await rightsOf(options.caller);
  for (const [name, document] of Object.entries(archive.policies ?? {})) {
    await attempt(report, 'policies', name, () => importPolicy(identities, name, document, require));
  }
  for (const [accessKey, { secretKey, status }] of Object.entries(archive.users ?? {})) {
    await attempt(report, 'users', accessKey, async () => {
      require('createUser');
      if (secretKey === undefined && (await identities.user(accessKey)) === undefined) throw withheld(accessKey);
      await identities.putUser({
        accessKey,
        ...optionalField('secretKey', secretKey),
        status: statusOf(status ?? 'enabled'),
      });
    });
  }
  for (const [name, { members, status }] of Object.entries(archive.groups ?? {})) {
    await attempt(report, 'groups', name, async () => {
      require('changeMembers', 'changeGroupStatus');
      await identities.addMembers(name, members ?? []);
      await identities.setGroupStatus(name, statusOf(status ?? 'enabled'));
    });
  }
  for (const [accessKey, entry] of Object.entries(archive.serviceAccounts ?? {})) {
    await attempt(report, 'serviceAccounts', accessKey, () => importAccount(options, accessKey, entry, require));
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
  for (const [name, { policy }] of Object.entries(archive.directoryMappings ?? {})) {
    await attach('stsPolicies', { kind: 'ldap-user', name: normalizeDn(name) ?? name }, policyNames(policy));
  }
  for (const { target, policies } of archive.attachments ?? []) {
    if (target.kind === 'claim') await attach('stsPolicies', target, policies);
  }
  return report;
}

/** Of each list one action is enough. */
const rightsOfImport = {
  createPolicy: ['admin:CreatePolicy'],
  createUser: ['admin:CreateUser'],
  changeMembers: ['admin:AddUserToGroup'],
  changeGroupStatus: ['admin:EnableGroup'],
  createAccount: ['admin:CreateServiceAccount'],
  updateAccount: ['admin:UpdateServiceAccount'],
  attach: mayAttach,
} as const;

/** Throws where the caller lacks one of these rights. */
type Require = (...rights: readonly (keyof typeof rightsOfImport)[]) => void;

/** What the caller may do before the first change: no entry of the archive gives the rights that the next one takes. */
async function rightsOf(caller: Caller): Promise<Require> {
  const missing = new Set<string>();
  for (const [right, actions] of Object.entries(rightsOfImport)) {
    if (!(await mayOneOf(caller, actions))) missing.add(right);
  }
  return (...rights) => {
    const lacking = rights.find((right) => missing.has(right));
    if (lacking === undefined) return;
    const actions = rightsOfImport[lacking].join(' or ');
    throw new S3Error('AccessDenied', `Access denied: beside admin:ImportIAM this takes ${actions}.`);
  };
}

function withheld(name: string): AdminError {
  return new AdminError(
    'XCofferInvalidRequest',
    `The archive holds no secret key of ${name}, and there is none of that name here: the export withheld it from a caller without the right.`,
  );
}

/** Refusals are told and the next one is tried; that the store cannot be reached ends the import. */
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
    else if (error instanceof IdentityError || error instanceof AdminError || error instanceof S3Error) {
      report.failed(kind, name, policies, error);
    } else throw error;
  }
}

/** What is built in stays as it is where the archive says the same. */
async function importPolicy(identities: Identities, name: string, document: unknown, require: Require): Promise<void> {
  const text = JSON.stringify(document);
  const builtIn = builtInPolicies.get(name);
  if (builtIn !== undefined && samePolicy(text, builtIn)) return;
  require('createPolicy');
  await identities.putPolicy(name, text);
}

async function importAccount(
  options: ImportOptions,
  accessKey: string,
  entry: AccountEntry,
  require: Require,
): Promise<void> {
  const { identities, caller } = options;
  const subject = importedSubject(entry, options.rootUser);
  if (subject.kind === 'root' && !isWholeRoot(caller.principal)) {
    throw new S3Error(
      'AccessDenied',
      `The access key ${accessKey} belongs to the root user, and only root imports it.`,
    );
  }
  const known = await identities.serviceAccount(accessKey);
  require(known === undefined ? 'createAccount' : 'updateAccount');
  // The archive says what a provider said of the person: their policies, groups and claims. That is to give them rights.
  if (known === undefined && subject.kind === 'federated') require('attach');
  const policy = givenPolicy(entry.sessionPolicy) ?? undefined;
  const expiration = expirationOf(entry.expiration) ?? undefined;
  const status = statusOf(entry.status ?? 'on');
  const [name, description] = [entry.name || undefined, entry.description || undefined];
  if (known === undefined) {
    const { secretKey } = entry;
    if (secretKey === undefined) throw withheld(accessKey);
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
    throw new IdentityError('access-key-in-use', `The access key ${accessKey} belongs to somebody else here.`);
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

/** A distinguished name is a group of a directory where no group here has it. */
async function groupTarget(identities: Identities, name: string): Promise<AttachmentTarget> {
  const dn = (await identities.group(name)) === undefined ? normalizeDn(name) : undefined;
  return dn === undefined ? { kind: 'group', name } : { kind: 'ldap-group', name: dn };
}
