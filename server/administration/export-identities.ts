import { type AttachmentTarget, parentName, type Subject } from '../auth/identities/subject.ts';
import type { IdentityReader } from '../auth/identities/identities.ts';
import type { ServiceAccount } from '../auth/identities/records.ts';
import { expirationText, never } from './service-accounts.ts';
import { archiveFiles, withheldFile } from './identity-archive.ts';
import { optionalField } from './optional-field.ts';
import { writeZip, type ZipEntry } from './zip.ts';

interface ExportOptions {
  readonly rootUser: string;
  readonly now: Date;
  /** Reports whether the caller may read secret keys of users, or of the access keys of a subject. */
  readonly mayKnow: (subject: 'user' | Subject) => boolean;
}

/**
 * Exports users, groups, policies, attachments and service accounts in MinIO's format, with the secret keys that the caller may read. A
 * file of the archive lists the withheld ones.
 */
export async function exportIdentities(identities: IdentityReader, options: ExportOptions): Promise<Buffer> {
  const { rootUser, now, mayKnow } = options;
  const mappings = await mappingsOf(identities);
  const withheld = { users: [] as string[], serviceAccounts: [] as string[] };
  const secretOf = (
    kind: keyof typeof withheld,
    subject: 'user' | Subject,
    of: { accessKey: string; secretKey: string },
  ) => {
    if (mayKnow(subject)) return { secretKey: of.secretKey };
    withheld[kind].push(of.accessKey);
    return {};
  };
  const parts: Readonly<Record<keyof typeof archiveFiles, unknown>> = {
    policies: await byName(identities.policies(), ({ name, json }) => [name, JSON.parse(json) as unknown]),
    users: await byName(identities.users(), (user) => [
      user.accessKey,
      { ...secretOf('users', 'user', user), status: user.status },
    ]),
    groups: await byName(identities.groups(), ({ name, status, members, updatedAt }) => [
      name,
      { version: 1, status, members, updatedAt: new Date(updatedAt).toISOString() },
    ]),
    serviceAccounts: await byName(identities.serviceAccounts(), (account) => [
      account.accessKey,
      { ...exportedAccount(account, rootUser), ...secretOf('serviceAccounts', account.subject, account) },
    ]),
    ...mappings,
  };
  const entries: ZipEntry[] = Object.entries(archiveFiles).map(([part, name]) => ({
    name,
    content: Buffer.from(JSON.stringify(parts[part as keyof typeof archiveFiles])),
  }));
  if (withheld.users.length + withheld.serviceAccounts.length > 0) {
    entries.push({ name: withheldFile, content: Buffer.from(JSON.stringify(withheld)) });
  }
  return writeZip(entries, now);
}

function exportedAccount(account: ServiceAccount, rootUser: string) {
  const { accessKey, subject, policy, status, name = '', description = '', expiration } = account;
  const parent = parentName(subject, rootUser);
  const kind = policy === undefined ? 'inherited-policy' : 'embedded-policy';
  return {
    parent,
    accessKey,
    groups: null,
    claims: { ...(subject.kind === 'federated' ? subject.claims : {}), accessKey, parent, 'sa-policy': kind },
    sessionPolicy: policy === undefined ? null : (JSON.parse(policy) as unknown),
    status: status === 'enabled' ? 'on' : 'off',
    name,
    description,
    expiration: expiration === undefined ? never : expirationText(expiration),
    ...optionalField('cofferSubject', subject.kind === 'federated' ? subject : undefined),
  };
}

interface Mapping {
  readonly version: 0;
  readonly policy: string;
  readonly updatedAt: string;
}

/** Groups attachments by target; MinIO has all kinds except claims. */
async function mappingsOf(identities: Pick<IdentityReader, 'attachments'>) {
  const userMappings = new Map<string, Mapping>();
  const groupMappings = new Map<string, Mapping>();
  const directoryMappings = new Map<string, Mapping>();
  const attachments: { target: AttachmentTarget; policies: readonly string[] }[] = [];
  const byKind = {
    user: userMappings,
    group: groupMappings,
    'ldap-user': directoryMappings,
    'ldap-group': groupMappings,
  } as const;
  for await (const { target, policies, updatedAt } of identities.attachments()) {
    if (target.kind !== 'user' && target.kind !== 'group') attachments.push({ target, policies });
    if (target.kind === 'claim') continue;
    const mapping = { version: 0, policy: policies.join(','), updatedAt: new Date(updatedAt).toISOString() } as const;
    byKind[target.kind].set(target.name, mapping);
  }
  return {
    userMappings: Object.fromEntries(userMappings),
    groupMappings: Object.fromEntries(groupMappings),
    directoryMappings: Object.fromEntries(directoryMappings),
    attachments,
  };
}

async function byName<T>(
  values: AsyncIterable<T>,
  entry: (value: T) => readonly [string, unknown],
): Promise<Record<string, unknown>> {
  const found: [string, unknown][] = [];
  for await (const value of values) {
    const [name, shown] = entry(value);
    found.push([name, shown]);
  }
  // `fromEntries` is safe for a user with the name `__proto__`.
  return Object.fromEntries(found);
}
