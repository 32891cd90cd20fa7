import { describeFound, describeSilence } from './describe.ts';
import type { PolicyDocument } from './document.ts';
import { PreparedRequest } from './prepared-request.ts';
import type { PrincipalNames } from './principals.ts';
import { survey, type Found } from './survey.ts';

export interface NamedPolicy {
  readonly name: string;
  readonly document: PolicyDocument;
}

export interface PolicyRequest {
  /** e.g. `s3:GetObject`; compared without regard to case. */
  readonly action: string;
  /**
   * `bucket/key`, `bucket`, the name of a key for actions of kms, or `''` for actions that have none; with or without the beginning of
   * its ARN.
   */
  readonly resource: string;
  /** Condition keys, compared without regard to case, e.g. `s3:prefix`, `aws:SourceIp`. */
  readonly context: Readonly<Record<string, readonly string[]>>;
  /**
   * What `${…}` stands for, by name: `aws:username`, `jwt:preferred_username`. A name that is not here stands for the condition key of
   * that name where it has one value, and else matches nothing.
   */
  readonly variables: Readonly<Record<string, string>>;
  /**
   * The subject's own names, for statements that say whom they are about; without it such a statement fits nobody. An access key is no
   * name: its owner chooses it, and would choose the name of another.
   */
  readonly principals?: PrincipalNames;
  /** The access key of the request. Only a Deny may name it: a key that its owner chose never opens anything. */
  readonly accessKey?: string;
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
