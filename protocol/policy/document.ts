import { type PrincipalPatterns, serviceOf } from './arns.ts';

/**
 * A policy document that `parsePolicyDocument` has checked. Single values have become lists.
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
  /** The principals of a statement of a bucket policy. Other policies apply to the identity to which they are attached. */
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

/** Writes a document as JSON, with lists where either form is allowed and with the documented names. */
export function serializePolicy(document: PolicyDocument): string {
  return JSON.stringify(policyJson(document));
}

/** Returns the JSON value that `serializePolicy` writes. */
export function policyJson({ version, id, statements }: PolicyDocument): Readonly<Record<string, unknown>> {
  return { ...(id === undefined ? {} : { Id: id }), Version: version, Statement: statements.map(statementJson) };
}

function statementJson(statement: PolicyStatement): Readonly<Record<string, unknown>> {
  const { sid, effect, principals, actions, resources, conditions } = statement;
  return {
    ...(sid === undefined ? {} : { Sid: sid }),
    Effect: effect,
    ...(principals === undefined ? {} : { Principal: principalJson(principals) }),
    [actions.kind === 'only' ? 'Action' : 'NotAction']: actions.patterns,
    ...(resources === undefined
      ? {}
      : { [resources.kind === 'only' ? 'Resource' : 'NotResource']: resources.patterns }),
    ...(conditions.length === 0 ? {} : { Condition: conditionJson(conditions) }),
  };
}

function principalJson(principals: PrincipalPatterns): Readonly<Record<string, readonly string[]>> {
  const services = principals.flatMap((pattern) => serviceOf(pattern) ?? []);
  const others = principals.filter((pattern) => serviceOf(pattern) === undefined);
  return {
    ...(others.length > 0 || services.length === 0 ? { AWS: others } : {}),
    ...(services.length > 0 ? { Service: services } : {}),
  };
}

/** The parser refuses the same operator and key twice, so nothing is lost here. */
function conditionJson(conditions: readonly PolicyCondition[]): Readonly<Record<string, unknown>> {
  const byOperator = Map.groupBy(conditions, ({ operator }) => operator);
  return Object.fromEntries(
    [...byOperator].map(([operator, keys]) => [
      operator,
      Object.fromEntries(keys.map(({ key, values }) => [key, values])),
    ]),
  );
}
