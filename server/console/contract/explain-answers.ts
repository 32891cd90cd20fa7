/** "Who may do what, and why" as the console's HTTP API answers it. */

export interface ExplainQuestion {
  readonly who: ExplainWho;
  /** e.g. `s3:GetObject`. */
  readonly action: string;
  /** `bucket/key`, `bucket`, or nothing for admin actions. */
  readonly resource: string;
  /** Condition keys of the request, e.g. `aws:SourceIp`. */
  readonly context?: Readonly<Record<string, readonly string[]>>;
}

export type ExplainWho =
  /** A user's name, or any access key. */
  | { readonly kind: 'name'; readonly name: string }
  /** Somebody who would come by a provider with these claims. */
  | { readonly kind: 'claims'; readonly provider: string; readonly claims: Readonly<Record<string, unknown>> };

export type ExplainAnswer =
  /** They would not even get credentials; the message says why. */
  { readonly kind: 'not-let-in'; readonly message: string } | DecisionAnswer;

export interface DecisionAnswer {
  readonly kind: 'decision';
  readonly who: string;
  readonly effect: 'allow' | 'deny';
  readonly reason: string;
  /** What decided. */
  readonly decidedBy: readonly { readonly source: PolicySource; readonly policy: string; readonly statement: string }[];
  readonly policies: readonly ExplainedPolicy[];
  /** Named by credentials, claims or roles, and nowhere defined: they allow nothing. */
  readonly missing: readonly string[];
  /** The same for a terminal or a ticket. */
  readonly text: string;
}

export type PolicySource = 'identity' | 'bucket' | 'boundary';

export interface ExplainedPolicy {
  readonly source: PolicySource;
  readonly policy: string;
  /** By what it counts, e.g. `the group staff`. */
  readonly through: readonly string[];
  readonly effect: 'allow' | 'deny' | 'none';
  readonly statements: readonly {
    /** Its Sid, or its position as `#1`. */
    readonly statement: string;
    readonly effect: 'Allow' | 'Deny';
    readonly applied: boolean;
    /** The first thing that did not fit. */
    readonly obstacle?: string;
  }[];
}
