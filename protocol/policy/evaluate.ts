import type { PolicyDocument } from './document.ts';
import { PreparedRequest, type PolicyRequest } from './policy-request.ts';
import { compilePolicy, type CompiledStatement } from './compile-policy.ts';
import { firstMismatch } from './match-statement.ts';

export interface NamedPolicy {
  readonly name: string;
  readonly document: PolicyDocument;
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

/**
 * What the policies together say: one explicit Deny outweighs every Allow, and silence is `none`. Who is asked about a whole request,
 * with its bucket and its session, uses `decide`.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
 */
export function evaluate(policies: readonly NamedPolicy[], request: PolicyRequest): Evaluation {
  const { deny, allow } = survey(policies, new PreparedRequest(request));
  if (deny !== undefined) return decided('deny', deny, request);
  if (allow !== undefined) return decided('allow', allow, request);
  return { effect: 'none', reason: describeSilence(policies, request) };
}

function decided(effect: 'allow' | 'deny', found: Found, request: PolicyRequest): Evaluation {
  return {
    effect,
    policy: found.policy.name,
    statement: found.statement.label,
    reason: describeFound(found, request),
  };
}

export interface Found {
  readonly policy: NamedPolicy;
  readonly statement: CompiledStatement;
}

/** What policies that stand side by side say: the first statement that denies, and the first that allows. */
export interface Survey {
  readonly deny: Found | undefined;
  readonly allow: Found | undefined;
}

export function survey(policies: readonly NamedPolicy[], request: PreparedRequest): Survey {
  let allow: Found | undefined;
  for (const policy of policies) {
    for (const statement of compilePolicy(policy.document).statements) {
      const denies = statement.source.effect === 'Deny';
      // One Allow is enough; a Deny may still follow.
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

export function describeFound({ policy, statement }: Found, request: PolicyRequest): string {
  const verb = statement.source.effect === 'Allow' ? 'allows' : 'denies';
  return `statement ${statement.label} of policy "${policy.name}" ${verb} ${describeRequest(request)}`;
}

export function describeSilence(policies: readonly NamedPolicy[], request: PolicyRequest): string {
  const among =
    policies.length === 0
      ? 'was looked at, since there is no policy that'
      : `of ${policies.map(({ name }) => `"${name}"`).join(', ')}`;
  return `no statement ${among} allows ${describeRequest(request)}`;
}
