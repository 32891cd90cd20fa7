import { parseConditionOperator } from './condition-operators.ts';
import type { PolicyCondition, PolicyDocument, PolicyStatement } from './document.ts';
import { parseRange } from './ip-range.ts';

/**
 * Condition keys that restrict a statement to known callers: those of AWS, and the names, groups and claims of identities here, which a
 * caller without credentials lacks.
 */
const restrictingKeys: ReadonlySet<string> = new Set(
  (
    'aws:sourceip aws:sourcearn aws:sourcevpc aws:sourcevpce aws:sourceowner aws:sourceaccount aws:principalorgid aws:principalorgpaths ' +
    'aws:principalaccount aws:principalarn aws:userid aws:username aws:groups s3:dataaccesspointarn s3:dataaccesspointaccount'
  ).split(' '),
);

/**
 * Reports whether a bucket policy is public: a statement allows something to everyone, and none of its conditions restricts it to fixed
 * values of a key that distinguishes callers. Other conditions, such as a referer, do not count, and statements that deny do not either.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html#access-control-block-public-access-policy-status
 */
export function isPublic(policy: PolicyDocument): boolean {
  return policy.statements.some(isPublicStatement);
}

function isPublicStatement({ effect, principals = [], conditions }: PolicyStatement): boolean {
  return effect === 'Allow' && principals.some((pattern) => /^[*?]+$/.test(pattern)) && !conditions.some(isRestriction);
}

function isRestriction({ operator, key, values }: PolicyCondition): boolean {
  const parsed = parseConditionOperator(operator);
  // `ForAllValues` and `IfExists` also hold for a request that lacks the key.
  if (parsed?.kind !== 'comparison' || parsed.negated || parsed.ifExists || parsed.quantifier === 'all') return false;
  const name = key.toLowerCase();
  if (!restrictingKeys.has(name) && !/^(?:jwt|ldap):/.test(name)) return false;
  if (parsed.family === 'IpAddress') return values.every(isNarrowRange);
  const compares =
    parsed.comparison === 'equal' || parsed.comparison === 'equal-ignoring-case' || parsed.comparison === 'like';
  return compares && values.every(isFixed);
}

function isFixed(value: string): boolean {
  return !/[*?]|\$\{/.test(value);
}

/** AWS takes ranges that are wider than /8, and /32 of IPv6, for everyone. */
function isNarrowRange(text: string): boolean {
  const range = parseRange(text);
  return range !== undefined && range.prefix >= (range.address.length === 2 ? 8 : 32);
}
