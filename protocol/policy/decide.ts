import type { DecisionInput, PolicyDecision, PolicySource, StatementReference } from './decision.ts';
import { describeFound, describeRequest, describeSilence } from './describe.ts';
import { PreparedRequest } from './prepared-request.ts';
import { survey, type Found, type Survey } from './survey.ts';

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
