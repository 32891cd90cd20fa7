/** The type of the values that an operator compares. */
type OperatorFamily = 'String' | 'Numeric' | 'Date' | 'Bool' | 'Binary' | 'IpAddress' | 'Arn';

/** The way in which an operator compares a value of the request with one of the policy. */
export type Comparison =
  'equal' | 'equal-ignoring-case' | 'like' | 'less' | 'less-or-equal' | 'greater' | 'greater-or-equal' | 'within';

interface Operator {
  readonly name: string;
  readonly family: OperatorFamily;
  readonly comparison: Comparison;
  /** The operator holds if the value matches no value of the policy. */
  readonly negated: boolean;
}

/** The prefixes ForAnyValue (`any`) and ForAllValues (`all`), for keys with several values. */
type Quantifier = 'none' | 'any' | 'all';

export type ConditionOperator =
  | { readonly kind: 'null' }
  | (Operator & {
      readonly kind: 'comparison';
      readonly quantifier: Quantifier;
      /** The suffix IfExists: the operator also holds if the request lacks the key. */
      readonly ifExists: boolean;
    });

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html */
const table: readonly (readonly [name: string, family: OperatorFamily, comparison: Comparison, negated?: 'negated'])[] =
  [
    ['StringEquals', 'String', 'equal'],
    ['StringNotEquals', 'String', 'equal', 'negated'],
    ['StringEqualsIgnoreCase', 'String', 'equal-ignoring-case'],
    ['StringNotEqualsIgnoreCase', 'String', 'equal-ignoring-case', 'negated'],
    ['StringLike', 'String', 'like'],
    ['StringNotLike', 'String', 'like', 'negated'],
    ['NumericEquals', 'Numeric', 'equal'],
    ['NumericNotEquals', 'Numeric', 'equal', 'negated'],
    ['NumericLessThan', 'Numeric', 'less'],
    ['NumericLessThanEquals', 'Numeric', 'less-or-equal'],
    ['NumericGreaterThan', 'Numeric', 'greater'],
    ['NumericGreaterThanEquals', 'Numeric', 'greater-or-equal'],
    ['DateEquals', 'Date', 'equal'],
    ['DateNotEquals', 'Date', 'equal', 'negated'],
    ['DateLessThan', 'Date', 'less'],
    ['DateLessThanEquals', 'Date', 'less-or-equal'],
    ['DateGreaterThan', 'Date', 'greater'],
    ['DateGreaterThanEquals', 'Date', 'greater-or-equal'],
    ['Bool', 'Bool', 'equal'],
    ['BinaryEquals', 'Binary', 'equal'],
    ['IpAddress', 'IpAddress', 'within'],
    ['NotIpAddress', 'IpAddress', 'within', 'negated'],
    // The documentation says that ArnEquals and ArnLike are the same.
    ['ArnEquals', 'Arn', 'like'],
    ['ArnLike', 'Arn', 'like'],
    ['ArnNotEquals', 'Arn', 'like', 'negated'],
    ['ArnNotLike', 'Arn', 'like', 'negated'],
  ];

const operators: ReadonlyMap<string, Operator> = new Map(
  table.map(([name, family, comparison, negated]) => [
    name.toLowerCase(),
    { name, family, comparison, negated: negated !== undefined },
  ]),
);

/** The names of all operators. Each but `Null` also takes the prefixes and the suffix. */
export const conditionOperatorNames: readonly string[] = [...table.map(([name]) => name), 'Null'];

const written = /^(?:(forallvalues|foranyvalue):)?([a-z]+?)(ifexists)?$/;

/** Parses an operator in any case. Returns undefined for an unknown one. */
export function parseConditionOperator(text: string): ConditionOperator | undefined {
  const [, prefix, name = '', suffix] = written.exec(text.toLowerCase()) ?? [];
  if (name === 'null') return prefix === undefined && suffix === undefined ? { kind: 'null' } : undefined;
  const operator = operators.get(name);
  if (operator === undefined) return undefined;
  const quantifier = prefix === undefined ? 'none' : prefix === 'forallvalues' ? 'all' : 'any';
  return { ...operator, kind: 'comparison', quantifier, ifExists: suffix !== undefined };
}

const prefixes: Readonly<Record<Quantifier, string>> = { none: '', any: 'ForAnyValue:', all: 'ForAllValues:' };

/** Returns the documented name, e.g. `ForAnyValue:StringLikeIfExists`. */
export function operatorName(operator: ConditionOperator): string {
  if (operator.kind === 'null') return 'Null';
  return `${prefixes[operator.quantifier]}${operator.name}${operator.ifExists ? 'IfExists' : ''}`;
}
