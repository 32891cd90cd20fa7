import {
  type NamedPolicy,
  describeMatch,
  describeRequest,
  describeImplicitDeny,
  matchPolicies,
  type StatementMatch,
  type PolicyMatches,
} from './evaluate.ts';
import { type PolicyRequest } from './policy-request.ts';
import { PreparedRequest } from './policy-request.ts';

/** All policies that take part in the decision of one request. */
export interface DecisionInput {
  /** The policies of the sender: their own, those of their groups, those of their claims. */
  readonly identity: readonly NamedPolicy[];
  /** The policy of the bucket of the request, if it has one. */
  readonly bucket?: NamedPolicy | undefined;
  /**
   * The permission boundaries of the credentials: the policy of a session, the inline policy of a service account. Each one must allow by
   * itself, and none of them grants anything.
   */
  readonly boundaries?: readonly NamedPolicy[] | undefined;
  /** Why an ACL allows the request; undefined if none does. It replaces the Allow of an identity or bucket policy. */
  readonly acl?: string | undefined;
  /**
   * The action is allowed by default, such as making access keys for oneself: it needs no Allow, but a Deny denies it. It replaces the
   * Allow of an identity policy only: credentials with a boundary still need the boundary's Allow, or they could create credentials without
   * a boundary.
   */
  readonly allowedByDefault?: boolean | undefined;
  readonly request: PolicyRequest;
}

export type PolicySource = 'identity' | 'bucket' | 'boundary';

/** A statement and the policy that contains it. */
interface StatementReference {
  readonly source: PolicySource;
  readonly policy: string;
  /** Its Sid, or its position as `#1`. */
  readonly statement: string;
}

/**
 * The reason: a statement allows it; it is allowed by default and nothing denies it; a statement denies it; no statement allows it; a
 * permission boundary does not allow it.
 */
type DecisionCause = 'allowed' | 'allowed-unless-denied' | 'denied' | 'not-allowed' | 'outside-boundary';

export interface PolicyDecision {
  readonly effect: 'allow' | 'deny';
  readonly cause: DecisionCause;
  /** One sentence for the log, the audit log and admin tools. It must not be sent to unauthenticated callers. */
  readonly reason: string;
  /** The statement that denies, or the one that allows and one of each boundary. Empty for an implicit deny. */
  readonly statements: readonly StatementReference[];
}

/**
 * Decides whether a request is allowed. It is allowed if no statement of any policy denies it, an identity policy, the bucket policy or an
 * ACL allows it, and each permission boundary allows it. The function is pure.
 *
 * @example
 *     import { parsePolicyDocument } from './parse-policy.ts';
 *     const statement = { Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::photos/*' };
 *     const readers = { name: 'readers', document: parsePolicyDocument({ Statement: [statement] }) };
 *     const asked = { resource: 'photos/cat.jpg', context: {}, variables: {} };
 *     decide({ identity: [readers], request: { ...asked, action: 's3:GetObject' } }).effect; // 'allow'
 *     decide({ identity: [readers], request: { ...asked, action: 's3:PutObject' } }).cause; // 'not-allowed'
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
 */
export function decide(input: DecisionInput): PolicyDecision {
  const { identity, bucket, boundaries = [], acl, allowedByDefault = false, request } = input;
  const prepared = new PreparedRequest(request);
  const identityMatches = matchPolicies(identity, prepared);
  const bucketMatches = bucket === undefined ? noMatches : matchPolicies([bucket], prepared);
  const boundaryMatches = boundaries.map((boundary) => matchPolicies([boundary], prepared));

  const denial = firstDeny(identityMatches, bucketMatches, boundaryMatches);
  if (denial !== undefined) {
    return decision('deny', 'denied', describeMatch(denial.found, request), [reference(denial)]);
  }
  const grant = firstAllow(identityMatches, bucketMatches);
  if (grant === undefined && acl === undefined && !allowedByDefault) {
    const asked = bucket === undefined ? identity : [...identity, bucket];
    return decision('deny', 'not-allowed', describeImplicitDeny(asked, request), []);
  }
  const granted = grant === undefined ? (acl ?? describeAllowedByDefault(input)) : describeMatch(grant.found, request);
  const references = grant === undefined ? [] : [reference(grant)];
  const reasons = [granted];
  for (const [index, { allow }] of boundaryMatches.entries()) {
    if (allow === undefined) {
      const reason = `${granted}, but no statement of "${boundaries[index]?.name}" does, which narrows the credentials`;
      return decision('deny', 'outside-boundary', reason, []);
    }
    references.push(reference({ source: 'boundary', found: allow }));
    reasons.push(describeMatch(allow, request));
  }
  const cause = grant === undefined && acl === undefined ? 'allowed-unless-denied' : 'allowed';
  return decision('allow', cause, reasons.join('; '), references);
}

const noMatches: PolicyMatches = { deny: undefined, allow: undefined };

interface Placed {
  readonly source: PolicySource;
  readonly found: StatementMatch;
}

function firstDeny(
  identityMatches: PolicyMatches,
  bucketMatches: PolicyMatches,
  boundaryMatches: readonly PolicyMatches[],
): Placed | undefined {
  if (identityMatches.deny !== undefined) return { source: 'identity', found: identityMatches.deny };
  if (bucketMatches.deny !== undefined) return { source: 'bucket', found: bucketMatches.deny };
  const boundary = boundaryMatches.find(({ deny }) => deny !== undefined)?.deny;
  return boundary === undefined ? undefined : { source: 'boundary', found: boundary };
}

function firstAllow(identityMatches: PolicyMatches, bucketMatches: PolicyMatches): Placed | undefined {
  if (identityMatches.allow !== undefined) return { source: 'identity', found: identityMatches.allow };
  return bucketMatches.allow === undefined ? undefined : { source: 'bucket', found: bucketMatches.allow };
}

function describeAllowedByDefault({ request }: DecisionInput): string {
  return `everyone may do ${describeRequest(request)} for themselves where no statement denies it, and none does`;
}

function decision(
  effect: PolicyDecision['effect'],
  cause: PolicyDecision['cause'],
  reason: string,
  statements: readonly StatementReference[],
): PolicyDecision {
  return { effect, cause, reason, statements };
}

function reference({ source, found }: Placed): StatementReference {
  return { source, policy: found.policy.name, statement: found.statement.label };
}
