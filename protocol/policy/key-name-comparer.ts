import { keyNameOf } from '../s3/bucket-encryption.ts';
import { comparerOf, type Comparer } from './comparisons.ts';
import type { ConditionOperator } from './condition-operators.ts';
import { withoutVariables } from './variables.ts';

/** A condition on it compares the name of the key, in whichever form policy and request write it. */
export const keyIdKey = 's3:x-amz-server-side-encryption-aws-kms-key-id';

/**
 * Compiles a value of a condition on the id of a key, as `comparerOf` does. Partition, region and account do not count: the request may
 * write any, and the server reads the name alone. An operator of ARNs compares the name with wildcards.
 */
export function keyNameComparerOf(
  operator: Extract<ConditionOperator, { kind: 'comparison' }>,
  expected: string,
  variables: boolean,
): Comparer | string {
  const byText =
    operator.family === 'Arn' ? ({ ...operator, family: 'String', comparison: 'like' } as const) : operator;
  const value = byText.family === 'String' ? namePattern(expected, variables) : expected;
  const comparer = comparerOf(byText, value, variables);
  if (typeof comparer === 'string') return comparer;
  return { ...comparer, matches: (actual, request) => comparer.matches(keyNameOf(actual), request) };
}

/**
 * Returns the part of a pattern that is about the name: what follows the last `/` or `:`, which no name has. In an ARN of six parts, or one
 * whose wildcard covers the sixth, a wildcard may also cover the end of the account or of `key/`.
 *
 * @example namePattern('arn:aws:kms:*:*:key/main', true) === 'main'
 */
function namePattern(text: string, variables: boolean): string {
  const plain = variables ? withoutVariables(text) : text;
  const start = Math.max(plain.lastIndexOf('/'), plain.lastIndexOf(':')) + 1;
  const name = text.slice(start);
  if (start === 0 || plain[start - 1] === '/') return name;
  const colons = plain.split(':').length - 1;
  const wild = plain.indexOf('*', start) - start;
  if (wild < 0) return name;
  const coversName = colons === 4 || (colons === 5 && 'key/'.startsWith(plain.slice(start, start + wild)));
  return coversName ? name.slice(wild) : name;
}
