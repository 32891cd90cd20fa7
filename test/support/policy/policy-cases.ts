import { decide } from '../../../protocol/policy/decide.ts';
import { evaluate } from '../../../protocol/policy/evaluate.ts';
import { type PolicyRequest } from '../../../protocol/policy/policy-request.ts';
import { parsePolicyDocument } from '../../../protocol/policy/parse-policy.ts';

/** A statement as people write it. */
export interface WrittenStatement {
  readonly Sid?: string;
  readonly Effect: 'Allow' | 'Deny';
  readonly Action?: string | readonly string[];
  readonly NotAction?: string | readonly string[];
  readonly Resource?: string | readonly string[];
  readonly NotResource?: string | readonly string[];
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export const everything: WrittenStatement = { Effect: 'Allow', Action: '*', Resource: '*' };

export function policyOf(...statements: readonly WrittenStatement[]) {
  return { name: 'p', document: parsePolicyDocument({ Version: '2012-10-17', Statement: statements }) };
}

export function requestOf(changes: Partial<PolicyRequest> = {}): PolicyRequest {
  return { action: 's3:GetObject', resource: 'bucket/key', context: {}, variables: {}, ...changes };
}

/** Whether a statement applies: an Allow by itself, a Deny beside an Allow of everything. */
export function applies(statement: WrittenStatement, request: Partial<PolicyRequest> = {}): boolean {
  const asked = requestOf(request);
  if (statement.Effect === 'Allow') return evaluate([policyOf(statement)], asked).effect === 'allow';
  return decide({ identity: [policyOf(everything, statement)], request: asked }).effect === 'deny';
}

/** The values of a request's key: one, several, or undefined where the request lacks it. */
export type Actual = string | readonly string[] | undefined;

/** Whether a condition on `s3:x-amz-test` holds, for an Allow and for a Deny. */
export function holds(
  operator: string,
  expected: unknown,
  actual: Actual,
  variables: PolicyRequest['variables'] = {},
): { readonly allow: boolean; readonly deny: boolean } {
  const Condition = { [operator]: { 's3:x-amz-test': expected } };
  const context: PolicyRequest['context'] = actual === undefined ? {} : { 's3:x-amz-test': [actual].flat() };
  const request = { context, variables };
  return {
    allow: applies({ Effect: 'Allow', Action: 's3:*', Resource: '*', Condition }, request),
    deny: applies({ Effect: 'Deny', Action: 's3:*', Resource: '*', Condition }, request),
  };
}

/** As `holds`, of conditions that are the same for both effects. */
export function both(outcome: boolean): { readonly allow: boolean; readonly deny: boolean } {
  return { allow: outcome, deny: outcome };
}
