import type { PolicyCondition } from './document.ts';
import { isInRange } from './ip-range.ts';
import { resolveText, patternMatches, type Variables } from './variables.ts';

type Compare = (expected: string, actual: string, variables: Variables | undefined) => boolean;

const equals: Compare = (expected, actual, variables) => resolveText(expected, variables) === actual;
const equalsIgnoringCase: Compare = (expected, actual, variables) =>
  resolveText(expected, variables)?.toLowerCase() === actual.toLowerCase();
const within: Compare = (expected, actual) => isInRange(actual, expected);
const like: Compare = (expected, actual, variables) => patternMatches(expected, actual, variables);

/**
 * Operators by their name in lower case. `negated` ones hold when no value of the request fits any of the policy's, and when
 * the request lacks the key; the others when any does.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
 */
const operators: ReadonlyMap<string, { readonly name: string; readonly compare: Compare; readonly negated: boolean }> =
  new Map(
    [
      { name: 'StringEquals', compare: equals, negated: false },
      { name: 'StringNotEquals', compare: equals, negated: true },
      { name: 'StringEqualsIgnoreCase', compare: equalsIgnoringCase, negated: false },
      { name: 'StringNotEqualsIgnoreCase', compare: equalsIgnoringCase, negated: true },
      { name: 'StringLike', compare: like, negated: false },
      { name: 'StringNotLike', compare: like, negated: true },
      { name: 'Bool', compare: equalsIgnoringCase, negated: false },
      { name: 'IpAddress', compare: within, negated: false },
      { name: 'NotIpAddress', compare: within, negated: true },
    ].map((operator) => [operator.name.toLowerCase(), operator]),
  );

const ifExists = 'ifexists';

/** The operator's name as documented (`StringLikeIfExists`, `Null`), from any spelling; undefined for an unknown one. */
export function conditionOperator(written: string): string | undefined {
  const name = written.toLowerCase();
  if (name === 'null') return 'Null';
  const operator = operators.get(name.endsWith(ifExists) ? name.slice(0, -ifExists.length) : name);
  return operator && `${operator.name}${name.endsWith(ifExists) ? 'IfExists' : ''}`;
}

export const conditionOperators: readonly string[] = [...operators.values().map(({ name }) => name), 'Null'];

/** Whether the condition holds when its values are *not* found. */
export function isNegated(condition: PolicyCondition): boolean {
  const name = condition.operator.toLowerCase();
  return operators.get(name.endsWith(ifExists) ? name.slice(0, -ifExists.length) : name)?.negated ?? false;
}

/** Whether a condition holds; `context` has its keys in lower case. */
export function conditionHolds(
  condition: PolicyCondition,
  context: ReadonlyMap<string, readonly string[]>,
  variables: Variables | undefined,
): boolean {
  const actual = context.get(condition.key.toLowerCase()) ?? [];
  const name = condition.operator.toLowerCase();
  if (name === 'null')
    return condition.values.some((value) => (value.toLowerCase() === 'true') === (actual.length === 0));
  const optional = name.endsWith(ifExists);
  const operator = operators.get(optional ? name.slice(0, -ifExists.length) : name);
  // The parser lets no other through; a condition that nobody understands must not widen anything, nor lift a Deny.
  if (operator === undefined) throw new Error(`unknown condition operator "${condition.operator}"`);
  if (actual.length === 0) return optional || operator.negated;
  const any = actual.some((value) => condition.values.some((expected) => operator.compare(expected, value, variables)));
  return any !== operator.negated;
}
