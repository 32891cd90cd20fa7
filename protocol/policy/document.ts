import type { PrincipalPatterns } from './arns.ts';

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

/** A document as the JSON that it was read from, or could have been: lists where either is allowed, names as documented. */
export function serializePolicy(document: PolicyDocument): string {
  return JSON.stringify(policyJson(document));
}

/** As `serializePolicy`, before it is text. */
export function policyJson({ version, id, statements }: PolicyDocument): Readonly<Record<string, unknown>> {
  return { ...(id === undefined ? {} : { Id: id }), Version: version, Statement: statements.map(statementJson) };
}

function statementJson(statement: PolicyStatement): Readonly<Record<string, unknown>> {
  const { sid, effect, principals, actions, resources, conditions } = statement;
  return {
    ...(sid === undefined ? {} : { Sid: sid }),
    Effect: effect,
    ...(principals === undefined ? {} : { Principal: { AWS: principals } }),
    [actions.kind === 'only' ? 'Action' : 'NotAction']: actions.patterns,
    ...(resources === undefined
      ? {}
      : { [resources.kind === 'only' ? 'Resource' : 'NotResource']: resources.patterns }),
    ...(conditions.length === 0 ? {} : { Condition: conditionJson(conditions) }),
  };
}

/** The parser refuses the same operator and key twice, so that nothing is lost here. */
function conditionJson(conditions: readonly PolicyCondition[]): Readonly<Record<string, unknown>> {
  const byOperator = Map.groupBy(conditions, ({ operator }) => operator);
  return Object.fromEntries(
    [...byOperator].map(([operator, keys]) => [
      operator,
      Object.fromEntries(keys.map(({ key, values }) => [key, values])),
    ]),
  );
}
