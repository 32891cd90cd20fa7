import type { PolicyDocument } from './document.ts';
import { PreparedRequest, type PolicyRequest } from './policy-request.ts';
import { compilePolicy, type CompiledStatement } from './compile-policy.ts';
import { firstMismatch } from './match-statement.ts';

export interface NamedPolicy {
  readonly name: string;
  readonly document: PolicyDocument;
}

export interface Evaluation {
  /** `none`: no statement matched, which is an implicit deny. */
  readonly effect: 'allow' | 'deny' | 'none';
  /** The name of the policy that decided. */
  readonly policy?: string;
  /** Its statement: the Sid, or its position as `#1`. */
  readonly statement?: string;
  /** One sentence for the log and admin tools. It must not be sent to unauthenticated callers. */
  readonly reason: string;
}

/**
 * Evaluates several policies: one explicit Deny outweighs every Allow, and without either the effect is `none`. `decide` does the same for
 * a whole request, with its bucket policy and its boundaries.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
 */
export function evaluate(policies: readonly NamedPolicy[], request: PolicyRequest): Evaluation {
  const { deny, allow } = matchPolicies(policies, new PreparedRequest(request));
  if (deny !== undefined) return decided('deny', deny, request);
  if (allow !== undefined) return decided('allow', allow, request);
  return { effect: 'none', reason: describeImplicitDeny(policies, request) };
}

function decided(effect: 'allow' | 'deny', found: StatementMatch, request: PolicyRequest): Evaluation {
  return {
    effect,
    policy: found.policy.name,
    statement: found.statement.label,
    reason: describeMatch(found, request),
  };
}

export interface StatementMatch {
  readonly policy: NamedPolicy;
  readonly statement: CompiledStatement;
}

/** The first statement that denies, and the first that allows. */
export interface PolicyMatches {
  readonly deny: StatementMatch | undefined;
  readonly allow: StatementMatch | undefined;
}

export function matchPolicies(policies: readonly NamedPolicy[], request: PreparedRequest): PolicyMatches {
  let allow: StatementMatch | undefined;
  for (const policy of policies) {
    for (const statement of compilePolicy(policy.document).statements) {
      const denies = statement.source.effect === 'Deny';
      // One Allow is enough, but a Deny may follow.
      if (!denies && allow !== undefined) continue;
      if (firstMismatch(statement, request) !== undefined) continue;
      if (denies) return { deny: { policy, statement }, allow };
      allow = { policy, statement };
    }
  }
  return { deny: undefined, allow };
}

/** `s3:GetObject on "bucket/key"`. */
export function describeRequest({ action, resource }: Pick<PolicyRequest, 'action' | 'resource'>): string {
  return resource === '' ? action : `${action} on "${resource}"`;
}

export function describeMatch({ policy, statement }: StatementMatch, request: PolicyRequest): string {
  const verb = statement.source.effect === 'Allow' ? 'allows' : 'denies';
  return `statement ${statement.label} of policy "${policy.name}" ${verb} ${describeRequest(request)}`;
}

export function describeImplicitDeny(policies: readonly NamedPolicy[], request: PolicyRequest): string {
  const among =
    policies.length === 0
      ? 'was looked at, since there is no policy that'
      : `of ${policies.map(({ name }) => `"${name}"`).join(', ')}`;
  return `no statement ${among} allows ${describeRequest(request)}`;
}
