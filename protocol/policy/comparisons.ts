import { arnMatcher, matchesArn, unresolvedInArn } from './arns.ts';
import type { Comparison, ConditionOperator } from './condition-operators.ts';
import { parseDate, compareDecimals, parseDecimal, type Decimal } from './condition-values.ts';
import { contains, parseRange } from './ip-range.ts';
import type { RequestValues } from './policy-request.ts';
import {
  matchesValue,
  unresolvedIn,
  valueMatcher,
  parseTemplate,
  resolveText,
  unresolvedNames,
  type Lookup,
} from './variables.ts';

/** Compares a value of the request. Returns undefined if the operator cannot read the value. */
export type Compare = (actual: string, request: RequestValues) => boolean | undefined;

/** A compiled value of a condition. */
export interface Comparer {
  readonly matches: Compare;
  /** Lists the variables in the value that have no value in this request. */
  readonly unresolved?: (lookup: Lookup) => readonly string[];
}

type ComparisonOperator = Extract<ConditionOperator, { kind: 'comparison' }>;

/** Compiles a value of a condition. Returns the problem with it as the end of a sentence if it is not valid. */
export function comparerOf(operator: ComparisonOperator, expected: string, variables: boolean): Comparer | string {
  switch (operator.family) {
    case 'String':
      return textComparer(operator.comparison, expected, variables);
    case 'Arn':
      return arnComparer(expected, variables);
    case 'Numeric':
      return numberComparer(operator.comparison, expected);
    case 'Date':
      return dateComparer(operator.comparison, expected);
    case 'Bool':
      return boolComparer(expected);
    case 'Binary':
      return binaryComparer(expected);
    case 'IpAddress':
      return rangeComparer(expected);
  }
}

function textComparer(comparison: Comparison, expected: string, variables: boolean): Comparer {
  if (comparison === 'equal-ignoring-case') {
    const template = parseTemplate(expected, { variables, wildcards: false });
    return {
      matches: (actual, { lookup }) => resolveText(template, lookup)?.toLowerCase() === actual.toLowerCase(),
      unresolved: (lookup) => unresolvedNames(template, lookup),
    };
  }
  const value = valueMatcher(expected, { variables, wildcards: comparison === 'like' });
  return {
    matches: (actual, { lookup }) => matchesValue(value, actual, lookup),
    unresolved: (lookup) => unresolvedIn(value, lookup),
  };
}

function arnComparer(expected: string, variables: boolean): Comparer | string {
  const matcher = arnMatcher(expected, variables);
  if (matcher === undefined) return 'must be an ARN of six parts, like "arn:aws:iam:::user/*"';
  return {
    matches: (actual, { lookup }) => matchesArn(matcher, actual, lookup),
    unresolved: (lookup) => unresolvedInArn(matcher, lookup),
  };
}

function numberComparer(comparison: Comparison, expected: string): Comparer | string {
  const right = parseDecimal(expected);
  if (right === undefined) return 'must be a number such as "10"';
  return {
    matches: (actual, request) =>
      ordered(comparison, request.decimal(actual), (left: Decimal) => compareDecimals(left, right)),
  };
}

function dateComparer(comparison: Comparison, expected: string): Comparer | string {
  const right = parseDate(expected);
  if (right === undefined) return 'must be a date such as "2026-11-21T20:40:00Z", or seconds of 1970';
  return { matches: (actual, request) => ordered(comparison, request.date(actual), (left: number) => left - right) };
}

function ordered<T>(comparison: Comparison, left: T | undefined, order: (left: T) => number): boolean | undefined {
  return left === undefined ? undefined : inOrder(comparison, order(left));
}

function inOrder(comparison: Comparison, order: number): boolean {
  switch (comparison) {
    case 'less':
      return order < 0;
    case 'less-or-equal':
      return order <= 0;
    case 'greater':
      return order > 0;
    case 'greater-or-equal':
      return order >= 0;
    case 'equal':
    case 'equal-ignoring-case':
    case 'like':
    case 'within':
      return order === 0;
  }
}

function parseBool(text: string): boolean | undefined {
  const lower = text.toLowerCase();
  return lower === 'true' ? true : lower === 'false' ? false : undefined;
}

function boolComparer(expected: string): Comparer | string {
  const wanted = parseBool(expected);
  if (wanted === undefined) return 'must be "true" or "false"';
  return {
    matches: (actual) => {
      const value = parseBool(actual);
      return value === undefined ? undefined : value === wanted;
    },
  };
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function binaryComparer(expected: string): Comparer | string {
  if (!base64.test(expected)) return 'must be base64';
  const wanted = Buffer.from(expected, 'base64');
  return { matches: (actual) => wanted.equals(Buffer.from(actual)) };
}

function rangeComparer(expected: string): Comparer | string {
  const range = parseRange(expected);
  if (range === undefined) return 'must be an address or a range such as "10.0.0.0/8"';
  return {
    matches: (actual, request) => {
      const address = request.address(actual);
      return address === undefined ? undefined : contains(range, address);
    },
  };
}
