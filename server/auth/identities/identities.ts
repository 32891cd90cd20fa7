import type { PolicyDocument } from '../../../protocol/policy/document.ts';
import type { AttachmentTarget, FederatedSubject, Subject } from './subject.ts';
import type { Attachment, Group, ServiceAccount, Status, StoredPolicy, User } from './records.ts';

/**
 * Users, groups, policies, what is attached to whom, and service accounts: sealed records. On one machine a change is obeyed by
 * every thread at the next request; several servers see it within a second. Temporary credentials are beside it, in `access`.
 *
 * Changes are made one after the other, whoever makes them: each expects that nothing else has changed since it looked. They reject
 * with an `IdentityError`; everything rejects with `StoreUnavailable` where the records cannot be read: nobody is let in by what is
 * not known.
 */
export interface Identities extends IdentityReader, IdentityChanges {}

export interface IdentityReader {
  user(accessKey: string): Promise<User | undefined>;
  users(): AsyncIterable<User>;
  group(name: string): Promise<Group | undefined>;
  groups(): AsyncIterable<Group>;
  /** Also those that are disabled. */
  groupsOf(user: string): Promise<readonly Group[]>;

  /** A policy by name: one that was stored, else a built-in one. */
  policy(name: string): Promise<NamedDocument | undefined>;
  policies(): AsyncIterable<NamedDocument>;

  /** Names of the policies that are attached to it; none where nothing is. */
  attached(target: AttachmentTarget): Promise<readonly string[]>;
  /** All that is attached, or all of one kind. */
  attachments(kind?: AttachmentTarget['kind']): AsyncIterable<{ readonly target: AttachmentTarget } & Attachment>;
  /** To whom a policy is attached. */
  attachedTo(policy: string): AsyncIterable<AttachmentTarget>;
  /** Those of the provider's claim targets that the claims fit. */
  claimTargets(provider: string, claims: Readonly<Record<string, unknown>>): Promise<readonly AttachmentTarget[]>;

  serviceAccount(accessKey: string): Promise<ServiceAccount | undefined>;
  /** Of one owner (`ownerOf`), or all. */
  serviceAccounts(owner?: string): AsyncIterable<ServiceAccount>;

  /** Names of the policies that decide what a subject may do, as they are now; without those of disabled groups. Root has none. */
  policiesOf(subject: Subject): Promise<readonly string[]>;
}

export interface NamedDocument {
  readonly name: string;
  readonly document: PolicyDocument;
  /** As it was given. */
  readonly json: string;
  /** Absent for a built-in policy. */
  readonly stored?: StoredPolicy;
}

export interface IdentityChanges {
  /** Makes a user or replaces their secret and status; a status or secret that is not given stays. */
  putUser(change: UserChange): Promise<User>;
  /** With the user go their memberships, attachments and service accounts; resolves with the access keys of the latter. */
  removeUser(accessKey: string): Promise<readonly string[]>;

  /** Makes the group where there is none. */
  addMembers(group: string, members: readonly string[]): Promise<Group>;
  removeMembers(group: string, members: readonly string[]): Promise<Group>;
  setGroupStatus(group: string, status: Status): Promise<Group>;
  /** Refused while it has members. */
  removeGroup(group: string): Promise<void>;

  /** `json` is checked. Whoever has the policy is judged by the new one from the next request on. */
  putPolicy(name: string, json: string, expected?: ExpectedPolicy): Promise<StoredPolicy>;
  /** Refused while it is attached, and for built-in ones that were not replaced. */
  removePolicy(name: string): Promise<void>;

  /** Adds to what is attached; resolves with the names that were not yet. Rejects where that is none. */
  attach(target: AttachmentTarget, policies: readonly string[]): Promise<AttachmentChange>;
  detach(target: AttachmentTarget, policies: readonly string[]): Promise<AttachmentChange>;
  /** Exactly these from now on; none removes the attachment. */
  setAttached(target: AttachmentTarget, policies: readonly string[]): Promise<AttachmentChange>;

  /** `accessKey` and `secretKey` are made where they are not given. */
  createServiceAccount(account: NewServiceAccount): Promise<ServiceAccount>;
  updateServiceAccount(accessKey: string, change: ServiceAccountChange): Promise<ServiceAccount>;
  removeServiceAccount(accessKey: string): Promise<void>;
  /** Every service account of an owner; resolves with their access keys. */
  removeServiceAccountsOf(owner: string): Promise<readonly string[]>;
}

interface UserChange {
  readonly accessKey: string;
  readonly secretKey?: string;
  readonly status?: Status;
  /** Rejects where there is one already. */
  readonly onlyNew?: boolean;
}

/** What is to be replaced: rejects where the policy was changed since it was read, or where it exists and none was expected. */
interface ExpectedPolicy {
  /** Undefined: none is stored. */
  readonly updatedAt: number | undefined;
}

export interface AttachmentChange {
  /** What was added or removed by this change. */
  readonly changed: readonly string[];
  /** What is attached now. */
  readonly policies: readonly string[];
  readonly updatedAt: number;
}

export interface NewServiceAccount {
  readonly subject: { readonly kind: 'root' } | { readonly kind: 'user'; readonly name: string } | FederatedSubject;
  readonly accessKey?: string;
  readonly secretKey?: string;
  readonly status?: Status;
  /** JSON; checked. */
  readonly policy?: string;
  readonly name?: string;
  readonly description?: string;
  readonly expiration?: Date;
}

/** What is undefined stays; `null` takes it away. */
export interface ServiceAccountChange {
  readonly secretKey?: string;
  readonly status?: Status;
  readonly policy?: string | null;
  readonly name?: string | null;
  readonly description?: string | null;
  readonly expiration?: Date | null;
}
