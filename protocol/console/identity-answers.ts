import type { PolicyInForce, Statement } from './answers.ts';

/** Users, groups and policies in the console's HTTP API. Times are ISO 8601. */

export type Status = 'enabled' | 'disabled';

export interface UserList {
  readonly users: readonly UserRow[];
  /** The `after` of the next page; absent on the last page. */
  readonly next?: string;
}

export interface UserRow {
  readonly name: string;
  readonly status: Status;
  /** The policies that are attached to the user, without those of groups. */
  readonly policies: readonly string[];
  readonly groups: readonly string[];
  readonly updatedAt: string;
}

export interface UserAnswer extends UserRow {
  /** The policies that apply: those of the user and of enabled groups. */
  readonly inForce: readonly PolicyInForce[];
  /** Absent if the caller may not list them. */
  readonly accessKeys?: readonly AccessKeyRow[];
}

export interface NewUser {
  readonly name: string;
  /** Absent: the server generates it and returns it once. */
  readonly secretKey?: string;
  readonly policies?: readonly string[];
  readonly groups?: readonly string[];
}

export interface SecretAnswer {
  readonly name: string;
  /** Present if the server generated it. It is not returned again. */
  readonly secretKey?: string;
}

export interface GroupList {
  readonly groups: readonly GroupRow[];
  /** The `after` of the next page; absent on the last page. */
  readonly next?: string;
}

export interface GroupRow {
  readonly name: string;
  readonly status: Status;
  readonly members: readonly string[];
  readonly policies: readonly string[];
  readonly updatedAt: string;
}

/**
 * The difference between the list that the user saw and the one that the user wants. What others added or removed meanwhile stays so: two
 * administrators do not undo each other's changes.
 */
export interface NameChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

export interface NewGroup {
  readonly name: string;
  readonly members?: readonly string[];
  readonly policies?: readonly string[];
}

export interface PolicyList {
  readonly policies: readonly PolicyRow[];
  /** The `after` of the next page; absent on the last page. */
  readonly next?: string;
}

export interface PolicyRow {
  readonly name: string;
  /** `replaced`: a stored policy with the name of a built-in one. */
  readonly kind: 'stored' | 'built-in' | 'replaced';
  readonly statements: number;
  readonly updatedAt?: string;
}

export interface PolicyAnswer extends PolicyRow {
  /** The JSON as it was saved. */
  readonly document: string;
  readonly content: readonly Statement[];
  readonly createdAt?: string;
  /** The newest first. */
  readonly earlier: readonly { readonly document: string; readonly updatedAt: string }[];
  readonly holders: readonly PolicyHolder[];
  readonly moreHolders: boolean;
}

/** The target of an attachment. LDAP names are distinguished names. */
export type PolicyHolder =
  | { readonly kind: 'user' | 'group' | 'ldap-user' | 'ldap-group'; readonly name: string }
  /** All users whose token of the provider has the claim with a matching value; `*` and `?` are wildcards. */
  | { readonly kind: 'claim'; readonly provider: string; readonly claim: string; readonly value: string };

/** The content of a valid document. */
export interface CheckedDocument {
  readonly content: readonly Statement[];
  /** Likely mistakes, one sentence each. */
  readonly warnings: readonly string[];
}

/** The names that a new policy may have. */
export interface PolicyNames {
  readonly actions: readonly string[];
  /** Condition keys. The name of a tag follows a `/` at the end. */
  readonly keys: readonly string[];
  /** Operators of conditions. */
  readonly operators: readonly string[];
}

/** Access keys in the console's HTTP API. Times are ISO 8601. */

export interface AccessKeyList {
  readonly keys: readonly AccessKeyRow[];
  /** The `after` of the next page; absent on the last page. */
  readonly next?: string;
}

export interface AccessKeyRow {
  readonly accessKey: string;
  /** `temporary`: issued by STS, with an expiration. */
  readonly kind: 'service-account' | 'temporary';
  readonly owner: KeyOwner;
  /** The key belongs to the caller. */
  readonly own: boolean;
  /** The session of the caller uses the key. */
  readonly current: boolean;
  readonly status: 'enabled' | 'disabled' | 'expired';
  /** A policy of the key restricts it. */
  readonly narrowed: boolean;
  readonly name?: string;
  readonly description?: string;
  readonly expires?: string;
  readonly created?: string;
}

export interface KeyOwner {
  readonly kind: 'root' | 'user' | 'federated';
  /** The display name. */
  readonly name: string;
  /** The identity provider of a federated user. */
  readonly provider?: string;
}

export interface AccessKeyAnswer extends AccessKeyRow {
  /** The policy that restricts the key, as JSON and parsed. */
  readonly policy?: { readonly document: string; readonly content: readonly Statement[] };
  /** Policies of the owner. */
  readonly ownerPolicies: readonly string[];
}

export interface NewAccessKey {
  /** The name of a user; absent: the caller. */
  readonly owner?: string;
  readonly name?: string;
  readonly description?: string;
  readonly expires?: string;
  /** JSON. */
  readonly policy?: string;
  readonly accessKey?: string;
  readonly secretKey?: string;
}

/** The only answer with the secret key. */
export interface NewAccessKeyAnswer {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly expires?: string;
}

/** An absent field keeps its value; null removes it. */
export interface AccessKeyChange {
  readonly status?: 'enabled' | 'disabled';
  readonly name?: string | null;
  readonly description?: string | null;
  readonly expires?: string | null;
  readonly policy?: string | null;
}
