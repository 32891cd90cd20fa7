import type { NamedPolicy, PolicyRequest } from './evaluate.ts';

/** Everything that has a say in one request. */
export interface DecisionInput {
  /** What the sender has: of themself, their groups, their claims. */
  readonly identity: readonly NamedPolicy[];
  /** The policy of the bucket that the request is about, where it has one. */
  readonly bucket?: NamedPolicy | undefined;
  /**
   * What narrows the credentials: the policy of a session, the inline policy of a service account. Each one must allow by itself;
   * none of them grants anything.
   */
  readonly boundaries?: readonly NamedPolicy[] | undefined;
  /**
   * What everyone may do for themselves, such as making access keys: allowed unless some statement denies it. It stands for the Allow of
   * an identity policy only: credentials with a boundary still need the boundary's Allow, or they could buy themselves others without.
   */
  readonly allowedUnlessDenied?: boolean | undefined;
  readonly request: PolicyRequest;
}

export type PolicySource = 'identity' | 'bucket' | 'boundary';

/** A statement, and where it stands. */
export interface StatementReference {
  readonly source: PolicySource;
  readonly policy: string;
  /** Its Sid, or its position as `#1`. */
  readonly statement: string;
}

/**
 * Why: some statement allows it; nothing denies what everyone may do; a statement denies it; no statement allows it; a boundary
 * does not.
 */
export type DecisionCause = 'allowed' | 'allowed-unless-denied' | 'denied' | 'not-allowed' | 'outside-boundary';

export interface PolicyDecision {
  readonly effect: 'allow' | 'deny';
  readonly cause: DecisionCause;
  /** One sentence for the log, the audit trail and admin tools, never for strangers. */
  readonly reason: string;
  /** The statement that denies; or the one that allows and one of each boundary. Empty where it is silence that decides. */
  readonly statements: readonly StatementReference[];
}
