import { subjectOf, type StoredCredentials } from '../../auth/principal.ts';
import type { TemporaryCredentials } from '../../auth/temporary-credentials-record.ts';
import type { ServiceAccount } from '../../auth/identities/records.ts';
import { ownerOf, type Subject } from '../../auth/identities/subject.ts';
import type { AccessKeyRow, KeyOwner } from '../../../protocol/console/identity-answers.ts';
import type { Administration } from '../services.ts';

/** The number of keys on the page of a user, which has no next page. */
const maxKeys = 1_000;

/** The user who sees the keys, and the time. */
export interface KeyViewer {
  readonly credentials: StoredCredentials;
  readonly rootUser: string;
  readonly now: Date;
}

type Keys = Pick<Administration, 'identities' | 'temporary'>;

export async function accessKeysOf(keys: Keys, viewer: KeyViewer, owner: Subject): Promise<AccessKeyRow[]> {
  const rows: AccessKeyRow[] = [];
  for await (const row of accessKeyRowsOf(keys, viewer, owner)) {
    if (rows.length >= maxKeys) break;
    rows.push(row);
  }
  return rows;
}

/** Yields service accounts, then temporary credentials, each ordered by access key. */
export async function* accessKeyRowsOf(
  { identities, temporary }: Keys,
  viewer: KeyViewer,
  owner: Subject,
): AsyncIterable<AccessKeyRow> {
  for await (const account of identities.serviceAccounts(ownerOf(owner))) yield rowOfAccount(account, viewer);
  for await (const credentials of temporary.ofOwner(ownerOf(owner))) yield rowOfTemporary(credentials, viewer);
}

export function rowOfAccount(account: ServiceAccount, viewer: KeyViewer): AccessKeyRow {
  const { accessKey, name, description, expiration } = account;
  const expired = expiration !== undefined && expiration <= viewer.now.getTime();
  return {
    accessKey,
    kind: 'service-account',
    ...whose(account.subject, viewer),
    current: accessKey === viewer.credentials.accessKey,
    status: expired ? 'expired' : account.status,
    narrowed: account.policy !== undefined,
    name,
    description,
    expires: expiration === undefined ? undefined : new Date(expiration).toISOString(),
    created: new Date(account.createdAt).toISOString(),
  };
}

export function rowOfTemporary({ accessKey, principal }: TemporaryCredentials, viewer: KeyViewer): AccessKeyRow {
  return {
    accessKey,
    kind: 'temporary',
    ...whose(principal.subject, viewer),
    current: accessKey === viewer.credentials.accessKey,
    status: 'enabled',
    narrowed: principal.sessionPolicy !== undefined,
    expires: principal.expiration.toISOString(),
  };
}

function whose(subject: Subject, { credentials, rootUser }: KeyViewer) {
  const own = subjectOf(credentials.principal);
  return { owner: keyOwner(subject, rootUser), own: own !== undefined && ownerOf(own) === ownerOf(subject) };
}

function keyOwner(subject: Subject, rootUser: string): KeyOwner {
  switch (subject.kind) {
    case 'root':
      return { kind: 'root', name: rootUser };
    case 'user':
      return { kind: 'user', name: subject.name };
    case 'federated':
      return { kind: 'federated', name: subject.displayName, provider: subject.provider };
    default:
      return subject satisfies never;
  }
}
