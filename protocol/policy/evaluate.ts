import type { PolicyDocument } from './document.ts';

export interface NamedPolicy {
  readonly name: string;
  readonly document: PolicyDocument;
}

export interface PolicyRequest {
  /** e.g. `s3:GetObject`; compared without regard to case. */
  readonly action: string;
  /** `bucket/key`, `bucket`, or `''` for admin actions; with or without `arn:aws:s3:::`. */
  readonly resource: string;
  /** Condition keys, compared without regard to case, e.g. `s3:prefix`, `aws:SourceIp`. */
  readonly context: Readonly<Record<string, readonly string[]>>;
  /** What `${…}` stands for, by name: `aws:username`, `jwt:preferred_username`. Absent names match nothing. */
  readonly variables: Readonly<Record<string, string>>;
}

export interface Evaluation {
  /** `none`: no statement matched, which means no. */
  readonly effect: 'allow' | 'deny' | 'none';
  /** The name of the policy that decided. */
  readonly policy?: string;
  /** Its statement: the Sid, or its position as `#1`. */
  readonly statement?: string;
  /** One sentence for the log and admin tools, never for strangers. */
  readonly reason: string;
}

export function evaluate(_policies: readonly NamedPolicy[], _request: PolicyRequest): Evaluation {
  throw new Error('not yet');
}
