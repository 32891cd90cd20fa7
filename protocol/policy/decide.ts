import {
  type NamedPolicy,
  describeFound,
  describeRequest,
  describeSilence,
  survey,
  type Found,
  type Survey,
} from './evaluate.ts';
import { type PolicyRequest } from './policy-request.ts';
import { PreparedRequest } from './policy-request.ts';

/** Everything that has a say in one request. */
export interface DecisionInput {
  /** What the sender has: of themself, their groups, their claims. */
  readonly identity: readonly NamedPolicy[];
  /** The policy of the bucket that the request is about, where it has one. */
  readonly bucket?: NamedPolicy | undefined;
  /**
   * What narrows the credentials: the policy of a session, the inline policy of a service account. Each one must allow by itself;
   * none of them grants anything.
   */
  readonly boundaries?: readonly NamedPolicy[] | undefined;
  /**
   * What everyone may do for themselves, such as making access keys: allowed unless some statement denies it. It stands for the Allow of
   * an identity policy only: credentials with a boundary still need the boundary's Allow, or they could buy themselves others without.
   */
  readonly allowedUnlessDenied?: boolean | undefined;
  readonly request: PolicyRequest;
}

export type PolicySource = 'identity' | 'bucket' | 'boundary';

/** A statement, and where it stands. */
interface StatementReference {
  readonly source: PolicySource;
  readonly policy: string;
  /** Its Sid, or its position as `#1`. */
  readonly statement: string;
}

/**
 * Why: some statement allows it; nothing denies what everyone may do; a statement denies it; no statement allows it; a boundary
 * does not.
 */
type DecisionCause = 'allowed' | 'allowed-unless-denied' | 'denied' | 'not-allowed' | 'outside-boundary';

export interface PolicyDecision {
  readonly effect: 'allow' | 'deny';
  readonly cause: DecisionCause;
  /** One sentence for the log, the audit trail and admin tools, never for strangers. */
  readonly reason: string;
  /** The statement that denies; or the one that allows and one of each boundary. Empty where it is silence that decides. */
  readonly statements: readonly StatementReference[];
}

/**
 * Whether a request is allowed: no statement of any policy denies it, an identity policy or that of the bucket allows it, and so does
 * each boundary. Pure: the same input gives the same answer.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
 */
export function decide(input: DecisionInput): PolicyDecision {
  const { identity, bucket, boundaries = [], allowedUnlessDenied = false, request } = input;
  const prepared = new PreparedRequest(request);
  const person = survey(identity, prepared);
  const ofBucket = bucket === undefined ? silence : survey([bucket], prepared);
  const narrowed = boundaries.map((boundary) => survey([boundary], prepared));

  const denial = firstDenial(person, ofBucket, narrowed);
  if (denial !== undefined) {
    return decision('deny', 'denied', describeFound(denial.found, request), [reference(denial)]);
  }
  const grant = firstGrant(person, ofBucket);
  if (grant === undefined && !allowedUnlessDenied) {
    const asked = bucket === undefined ? identity : [...identity, bucket];
    return decision('deny', 'not-allowed', describeSilence(asked, request), []);
  }
  const granted = grant === undefined ? undenied(input) : describeFound(grant.found, request);
  const references = grant === undefined ? [] : [reference(grant)];
  const reasons = [granted];
  for (const [index, { allow }] of narrowed.entries()) {
    if (allow === undefined) {
      const reason = `${granted}, but no statement of "${boundaries[index]?.name}" does, which narrows the credentials`;
      return decision('deny', 'outside-boundary', reason, []);
    }
    references.push(reference({ source: 'boundary', found: allow }));
    reasons.push(describeFound(allow, request));
  }
  const cause = grant === undefined ? 'allowed-unless-denied' : 'allowed';
  return decision('allow', cause, reasons.join('; '), references);
}

const silence: Survey = { deny: undefined, allow: undefined };

interface Placed {
  readonly source: PolicySource;
  readonly found: Found;
}

function firstDenial(person: Survey, ofBucket: Survey, narrowed: readonly Survey[]): Placed | undefined {
  if (person.deny !== undefined) return { source: 'identity', found: person.deny };
  if (ofBucket.deny !== undefined) return { source: 'bucket', found: ofBucket.deny };
  const boundary = narrowed.find(({ deny }) => deny !== undefined)?.deny;
  return boundary === undefined ? undefined : { source: 'boundary', found: boundary };
}

function firstGrant(person: Survey, ofBucket: Survey): Placed | undefined {
  if (person.allow !== undefined) return { source: 'identity', found: person.allow };
  return ofBucket.allow === undefined ? undefined : { source: 'bucket', found: ofBucket.allow };
}

function undenied({ request }: DecisionInput): string {
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
