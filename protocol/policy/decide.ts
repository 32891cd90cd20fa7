import type { DecisionInput, PolicyDecision, PolicySource, StatementReference } from './decision.ts';
import { evaluate, type Evaluation } from './evaluate.ts';

/**
 * Whether a request is allowed: no statement of any policy denies it, an identity policy or that of the bucket allows it, and so
 * does each boundary.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
 */
export function decide(input: DecisionInput): PolicyDecision {
  const { identity, bucket, boundaries = [], allowedUnlessDenied = false, request } = input;
  const person = evaluate(identity, request);
  const ofBucket = evaluate(bucket === undefined ? [] : [bucket], request);
  const narrowed = boundaries.map((boundary) => evaluate([boundary], request));
  const all: readonly (readonly [PolicySource, Evaluation])[] = [
    ['identity', person],
    ['bucket', ofBucket],
    ...narrowed.map((evaluation) => ['boundary', evaluation] as const),
  ];
  for (const [source, evaluation] of all) {
    if (evaluation.effect === 'deny') {
      return { effect: 'deny', cause: 'denied', reason: evaluation.reason, statements: reference(source, evaluation) };
    }
  }
  const granted = person.effect === 'allow' ? person : ofBucket;
  if (granted.effect !== 'allow' && !allowedUnlessDenied) {
    return { effect: 'deny', cause: 'not-allowed', reason: person.reason, statements: [] };
  }
  const outside = narrowed.find(({ effect }) => effect !== 'allow');
  if (outside !== undefined) {
    return { effect: 'deny', cause: 'outside-boundary', reason: outside.reason, statements: [] };
  }
  const from: PolicySource = granted === person ? 'identity' : 'bucket';
  return {
    effect: 'allow',
    cause: granted.effect === 'allow' ? 'allowed' : 'allowed-unless-denied',
    reason: [granted, ...narrowed].map(({ reason }) => reason).join('; '),
    statements: [...reference(from, granted), ...narrowed.flatMap((evaluation) => reference('boundary', evaluation))],
  };
}

function reference(source: PolicySource, { policy, statement }: Evaluation): StatementReference[] {
  return policy === undefined || statement === undefined ? [] : [{ source, policy, statement }];
}
