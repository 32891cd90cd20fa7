import type { PolicyInForce, Statement } from './answers.ts';

/** Users, groups, and policies as the console's HTTP API answers them. Times are ISO 8601. */

export type Status = 'enabled' | 'disabled';

export interface UserList {
  readonly users: readonly UserRow[];
  /** Pass as `after` for those that follow; absent where there are none. */
  readonly next?: string;
}

export interface UserRow {
  readonly name: string;
  readonly status: Status;
  /** Attached to the user; those of groups come to it. */
  readonly policies: readonly string[];
  readonly groups: readonly string[];
  readonly updatedAt: string;
}

export interface UserAnswer extends UserRow {
  /** Attached and by enabled groups: what decides for them. */
  readonly inForce: readonly PolicyInForce[];
  /** Absent where the person who asks may not see them. */
  readonly accessKeys?: readonly AccessKeyRow[];
}

export interface NewUser {
  readonly name: string;
  /** Made where it is absent, and then answered once. */
  readonly secretKey?: string;
  readonly policies?: readonly string[];
  readonly groups?: readonly string[];
}

export interface SecretAnswer {
  readonly name: string;
  /** Only where the server made it: it is not shown again. */
  readonly secretKey?: string;
}

export interface GroupList {
  readonly groups: readonly GroupRow[];
  /** Pass as `after` for those that follow; absent where there are none. */
  readonly next?: string;
}

export interface GroupRow {
  readonly name: string;
  readonly status: Status;
  readonly members: readonly string[];
  readonly policies: readonly string[];
  readonly updatedAt: string;
}

export interface NewGroup {
  readonly name: string;
  readonly members?: readonly string[];
  readonly policies?: readonly string[];
}

export interface PolicyList {
  readonly policies: readonly PolicyRow[];
  /** Pass as `after` for those that follow; absent where there are none. */
  readonly next?: string;
}

export interface PolicyRow {
  readonly name: string;
  /** `replaced`: stored under the name of a built-in one. */
  readonly kind: 'stored' | 'built-in' | 'replaced';
  readonly statements: number;
  readonly updatedAt?: string;
}

export interface PolicyAnswer extends PolicyRow {
  /** The JSON as it was given. */
  readonly document: string;
  readonly content: readonly Statement[];
  readonly createdAt?: string;
  /** The newest first. */
  readonly earlier: readonly { readonly document: string; readonly updatedAt: string }[];
  readonly holders: readonly PolicyHolder[];
  readonly moreHolders: boolean;
}

/** To whom a policy is attached. LDAP names are distinguished names. */
export type PolicyHolder =
  | { readonly kind: 'user' | 'group' | 'ldap-user' | 'ldap-group'; readonly name: string }
  /** Everyone whose token of the provider has the claim with a value that fits; `*` and `?` are wild. */
  | { readonly kind: 'claim'; readonly provider: string; readonly claim: string; readonly value: string };

/** What a document would say; a document with a mistake is refused with its message. */
export interface CheckedDocument {
  readonly content: readonly Statement[];
  /** What it does that its author may not have meant, a sentence each. */
  readonly warnings: readonly string[];
}

/** Access keys as the console's HTTP API answers them. Times are ISO 8601. */

export interface AccessKeyList {
  readonly keys: readonly AccessKeyRow[];
  /** Pass as `after` for those that follow; absent where there are none. */
  readonly next?: string;
}

export interface AccessKeyRow {
  readonly accessKey: string;
  /** `temporary`: bought from STS, and over by itself. */
  readonly kind: 'service-account' | 'temporary';
  readonly owner: KeyOwner;
  /** Of the person who asks. */
  readonly own: boolean;
  /** Of this very session. */
  readonly current: boolean;
  readonly status: 'enabled' | 'disabled' | 'expired';
  /** Whether a policy of its own narrows what it may do. */
  readonly narrowed: boolean;
  readonly name?: string;
  readonly description?: string;
  readonly expires?: string;
  readonly created?: string;
}

export interface KeyOwner {
  readonly kind: 'root' | 'user' | 'federated';
  /** What people recognise. */
  readonly name: string;
  /** Who vouches for a federated person. */
  readonly provider?: string;
}

export interface AccessKeyAnswer extends AccessKeyRow {
  /** The JSON of the policy that narrows it, and what it says. */
  readonly policy?: { readonly document: string; readonly content: readonly Statement[] };
  /** Policies of the owner. */
  readonly ownerPolicies: readonly string[];
}

export interface NewAccessKey {
  /** A user's name; absent: oneself. */
  readonly owner?: string;
  readonly name?: string;
  readonly description?: string;
  readonly expires?: string;
  /** JSON. */
  readonly policy?: string;
  readonly accessKey?: string;
  readonly secretKey?: string;
}

/** The one time that the secret is shown. */
export interface NewAccessKeyAnswer {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly expires?: string;
}

/** What is absent stays, null takes it away. */
export interface AccessKeyChange {
  readonly status?: 'enabled' | 'disabled';
  readonly name?: string | null;
  readonly description?: string | null;
  readonly expires?: string | null;
  readonly policy?: string | null;
}
