import type { PrincipalPatterns } from './principals.ts';

/**
 * A policy document as checked by `parsePolicyDocument`: single values have become lists, unknown fields are refused.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html
 */
export interface PolicyDocument {
  readonly version: '2012-10-17' | '2008-10-17';
  readonly id?: string;
  readonly statements: readonly PolicyStatement[];
}

export interface PolicyStatement {
  readonly sid?: string;
  readonly effect: 'Allow' | 'Deny';
  /** In the policy of a bucket: whom the statement is about. Other policies are about whoever they are attached to. */
  readonly principals?: PrincipalPatterns;
  readonly actions: { readonly kind: 'only' | 'all-but'; readonly patterns: readonly string[] };
  /** Admin actions need no resource. */
  readonly resources?: { readonly kind: 'only' | 'all-but'; readonly patterns: readonly string[] };
  readonly conditions: readonly PolicyCondition[];
}

export interface PolicyCondition {
  /** e.g. `StringEquals`, `StringLike`, `Null`. */
  readonly operator: string;
  /** e.g. `s3:prefix`. */
  readonly key: string;
  readonly values: readonly string[];
}
