/** The explanation of decisions in the console's HTTP API. */

export interface ExplainQuestion {
  readonly who: ExplainWho;
  /** For example `s3:GetObject`. */
  readonly action: string;
  /** `bucket/key` or `bucket`; empty for admin actions. */
  readonly resource: string;
  /** Condition keys of the request, for example `aws:SourceIp`. */
  readonly context?: Readonly<Record<string, readonly string[]>>;
}

export type ExplainWho =
  /** The name of a user, or an access key. */
  | { readonly kind: 'name'; readonly name: string }
  /** A user whose token of the provider has these claims. */
  | { readonly kind: 'claims'; readonly provider: string; readonly claims: Readonly<Record<string, unknown>> };

export type ExplainAnswer =
  /** STS would issue no credentials. */
  { readonly kind: 'not-let-in'; readonly message: string } | DecisionAnswer;

export interface DecisionAnswer {
  readonly kind: 'decision';
  readonly who: string;
  readonly effect: 'allow' | 'deny';
  readonly reason: string;
  /** The statements that decided. */
  readonly decidedBy: readonly { readonly source: PolicySource; readonly policy: string; readonly statement: string }[];
  readonly policies: readonly ExplainedPolicy[];
  /** Policies that credentials, claims or roles name and that do not exist. */
  readonly missing: readonly string[];
  /** The explanation as plain text. */
  readonly text: string;
}

export type PolicySource = 'identity' | 'bucket' | 'boundary';

export interface ExplainedPolicy {
  readonly source: PolicySource;
  readonly policy: string;
  /** Its attachments, for example `the group staff`. */
  readonly through: readonly string[];
  readonly effect: 'allow' | 'deny' | 'none';
  readonly statements: readonly {
    /** The Sid, or the position, for example `#1`. */
    readonly statement: string;
    readonly effect: 'Allow' | 'Deny';
    readonly applied: boolean;
    /** The first element that did not match. */
    readonly obstacle?: string;
  }[];
}
