/** Access keys as the console's HTTP API answers them. Times are ISO 8601. */
import type { Statement } from './answers.ts';

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
