import type { CallerBoundary } from './bounded-changes.ts';
import type { PolicyDocument } from '../../../protocol/policy/document.ts';
import type { AttachmentTarget, FederatedSubject, Subject } from './subject.ts';
import type { Attachment, Group, ServiceAccount, Status, StoredPolicy, User } from './records.ts';

/**
 * Users, groups, policies, attachments and service accounts, kept as sealed records. On one machine every thread sees a change with the
 * next request; other servers see it within a second. Temporary credentials have a store of their own (`TemporaryCredentialsStore`).
 *
 * Changes are serialized: each expects that no other change was committed since it read. They reject with an `IdentityError`. Reads reject
 * with `StoreError` if the records cannot be read, so that access fails closed.
 */
export interface Identities extends IdentityReader, IdentityChanges {
  /** Returns the same identities for a caller with a permission boundary: a change that gives anybody more rejects with `AccessDenied`. */
  boundedBy(boundary: CallerBoundary): Identities;
}

export interface IdentityReader {
  user(accessKey: string): Promise<User | undefined>;
  users(): AsyncIterable<User>;
  group(name: string): Promise<Group | undefined>;
  groups(): AsyncIterable<Group>;
  /** Returns disabled groups too. */
  groupsOf(user: string): Promise<readonly Group[]>;

  /** Returns the stored policy of this name, else the built-in one. */
  policy(name: string): Promise<NamedDocument | undefined>;
  policies(): AsyncIterable<NamedDocument>;

  /** Returns the names of the attached policies. */
  attached(target: AttachmentTarget): Promise<readonly string[]>;
  /** Lists all attachments, or those of one kind of target. */
  attachments(kind?: AttachmentTarget['kind']): AsyncIterable<{ readonly target: AttachmentTarget } & Attachment>;
  /** Lists the targets that a policy is attached to. */
  attachedTo(policy: string): AsyncIterable<AttachmentTarget>;
  /** Returns the claim targets of the provider that match the claims. */
  claimTargets(provider: string, claims: Readonly<Record<string, unknown>>): Promise<readonly AttachmentTarget[]>;

  serviceAccount(accessKey: string): Promise<ServiceAccount | undefined>;
  /** Lists the service accounts of an owner (`ownerOf`), or all. */
  serviceAccounts(owner?: string): AsyncIterable<ServiceAccount>;

  /** Returns the names of the policies of a subject, now. Policies of disabled groups are not among them. Root has none. */
  policiesOf(subject: Subject): Promise<readonly string[]>;
}

export interface NamedDocument {
  readonly name: string;
  readonly document: PolicyDocument;
  /** The document as the administrator sent it. */
  readonly json: string;
  /** Absent for a built-in policy. */
  readonly stored?: StoredPolicy;
}

export interface IdentityChanges {
  /** Creates a user or replaces the given fields: an absent status or secret stays. */
  putUser(change: UserChange): Promise<User>;
  /** Removes the user with memberships, attachments and service accounts; resolves with the access keys of the latter. */
  removeUser(accessKey: string): Promise<readonly string[]>;

  /** Rejects if the group exists. */
  createGroup(group: string, members: readonly string[]): Promise<Group>;
  /** Creates the group if it does not exist. */
  addMembers(group: string, members: readonly string[]): Promise<Group>;
  removeMembers(group: string, members: readonly string[]): Promise<Group>;
  /** Adds and removes members of a group that exists, in one commit. */
  changeMembers(group: string, change: NameChange): Promise<Group>;
  /** Adds a user to groups that exist, and removes the user from others, in one commit. */
  changeGroups(user: string, change: NameChange): Promise<void>;
  setGroupStatus(group: string, status: Status): Promise<Group>;
  /** Rejects while the group has members. */
  removeGroup(group: string): Promise<void>;

  /** Checks and stores `json`. The new version takes effect with the next request. */
  putPolicy(name: string, json: string, expected?: ExpectedPolicy): Promise<StoredPolicy>;
  /** Rejects while the policy is attached, and for a built-in policy that was not replaced. */
  removePolicy(name: string): Promise<void>;

  /** Adds policies; resolves with those that were added, and rejects if there are none. */
  attach(target: AttachmentTarget, policies: readonly string[]): Promise<AttachmentChange>;
  detach(target: AttachmentTarget, policies: readonly string[]): Promise<AttachmentChange>;
  /** Adds policies and removes others in one commit. */
  changeAttached(target: AttachmentTarget, change: NameChange): Promise<AttachmentChange>;
  /** Replaces the attached policies; an empty list removes the attachment. */
  setAttached(target: AttachmentTarget, policies: readonly string[]): Promise<AttachmentChange>;

  /** Generates `accessKey` and `secretKey` if they are absent. */
  createServiceAccount(account: NewServiceAccount): Promise<ServiceAccount>;
  updateServiceAccount(accessKey: string, change: ServiceAccountChange): Promise<ServiceAccount>;
  removeServiceAccount(accessKey: string): Promise<void>;
  /** Removes the service accounts of an owner; resolves with their access keys. */
  removeServiceAccountsOf(owner: string): Promise<readonly string[]>;
}

/**
 * The difference between the list that an administrator saw and the one that the administrator wants. The names that others added or removed
 * meanwhile stay so. A name that is there already, or is gone already, is not an error.
 */
export interface NameChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

interface UserChange {
  readonly accessKey: string;
  readonly secretKey?: string;
  readonly status?: Status;
  /** Rejects if the user exists. */
  readonly onlyNew?: boolean;
}

/** The version that a change replaces. The change rejects if the policy was changed since, or exists unexpectedly. */
interface ExpectedPolicy {
  /** Undefined if no policy is expected to be stored. */
  readonly updatedAt: number | undefined;
}

export interface AttachmentChange {
  /** The policies that this change added or removed. */
  readonly changed: readonly string[];
  /** The policies that are attached now. */
  readonly policies: readonly string[];
  readonly updatedAt: number;
}

export interface NewServiceAccount {
  readonly subject: { readonly kind: 'root' } | { readonly kind: 'user'; readonly name: string } | FederatedSubject;
  readonly accessKey?: string;
  readonly secretKey?: string;
  readonly status?: Status;
  /** A policy document as JSON; it is checked. */
  readonly policy?: string;
  readonly name?: string;
  readonly description?: string;
  readonly expiration?: Date;
}

/** Undefined keeps a field; `null` removes it. */
export interface ServiceAccountChange {
  readonly secretKey?: string;
  readonly status?: Status;
  readonly policy?: string | null;
  readonly name?: string | null;
  readonly description?: string | null;
  readonly expiration?: Date | null;
}
