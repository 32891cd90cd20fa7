import { comparerOf, type Comparer } from './comparisons.ts';
import { parseConditionOperator, type ConditionOperator } from './condition-operators.ts';
import type { PolicyCondition, PolicyDocument, PolicyStatement } from './document.ts';
import { bucketTagKey, existingTagKey, isSupported } from './known-names.ts';
import type { PreparedRequest } from './policy-request.ts';
import { principalMatcher, type PrincipalMatcher, kmsArn, s3Arn } from './arns.ts';
import { keyIdKey, keyNameComparerOf } from './key-name-comparer.ts';
import { textMatcher, type TextMatcher } from './glob.ts';
import { valueMatcher, type ValueMatcher } from './variables.ts';

/** A compiled condition. */
export interface CompiledCondition {
  readonly source: PolicyCondition;
  /** In lower case. */
  readonly key: string;
  readonly operator: ConditionOperator;
  /** Some request to this server can have the key. */
  readonly evaluated: boolean;
  readonly comparers: readonly Comparer[];
}

/**
 * Compiles a condition. The parser accepts only operators that this function knows. An unknown operator throws, because it must neither
 * widen an Allow nor lift a Deny.
 */
function compileCondition(source: PolicyCondition, variables: boolean): CompiledCondition {
  const operator = parseConditionOperator(source.operator);
  if (operator === undefined) throw new Error(`unknown condition operator "${source.operator}"`);
  const key = source.key.toLowerCase();
  const compile = key === keyIdKey ? keyNameComparerOf : comparerOf;
  const comparers =
    operator.kind === 'null'
      ? []
      : source.values.map((value) => readComparer(compile(operator, value, variables), operator, value));
  return { source, key, operator, evaluated: isSupported(key), comparers };
}

function readComparer(
  comparer: Comparer | string,
  operator: Extract<ConditionOperator, { kind: 'comparison' }>,
  value: string,
): Comparer {
  if (typeof comparer === 'string') throw new Error(`value "${value}" of ${operator.name} ${comparer}`);
  return comparer;
}

/**
 * Reports whether a condition holds.
 *
 * A key that no request here has, such as the organization of the caller, makes an Allow not apply and a Deny apply: a Deny must not vanish because the
 * server does not know its key. The same holds for a claim that the sender may have and that is not stored with the session.
 *
 * A value of the request that the operator cannot read, such as a word where it compares numbers, makes an Allow not apply and a Deny
 * apply: a sender gains nothing by invalid values.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-logic-multiple-context-keys-or-values.html
 */
export function conditionHolds(
  { source, key, operator, evaluated, comparers }: CompiledCondition,
  request: PreparedRequest,
  effect: 'Allow' | 'Deny',
): boolean {
  const actual = request.values(key);
  if (actual.length === 0 && (!evaluated || request.isUnknown(key))) return effect === 'Deny';
  if (operator.kind === 'null') {
    return source.values.some((value) => (value.toLowerCase() === 'true') === (actual.length === 0));
  }
  const { negated, quantifier, ifExists } = operator;
  // "All but your own" must not become "all" if "your own" is not known.
  if (negated && effect === 'Allow' && unresolvedVariables(comparers, request).length > 0) return false;
  if (actual.length === 0) return ifExists || quantifier === 'all' || (quantifier === 'none' && negated);
  // Without a prefix one matching value is enough. A negated operator needs that no value matches.
  const each = quantifier === 'all' || (quantifier === 'none' && negated);
  let outcome: boolean | undefined = each;
  for (const value of actual) {
    const matches = matchesAny(comparers, value, request);
    const good = matches === undefined ? undefined : matches !== negated;
    if (good === !each) return good;
    if (good === undefined) outcome = undefined;
  }
  return outcome ?? effect === 'Deny';
}

/** Reports whether a value matches one of the values of the policy. Returns undefined if none of them could read it. */
function matchesAny(comparers: readonly Comparer[], value: string, request: PreparedRequest): boolean | undefined {
  let outcome: boolean | undefined = false;
  for (const { matches } of comparers) {
    const matched = matches(value, request);
    if (matched === true) return true;
    if (matched === undefined) outcome = undefined;
  }
  return outcome;
}

/** Lists the variables in the values of the policy that have no value. */
export function unresolvedVariables(comparers: readonly Comparer[], request: PreparedRequest): readonly string[] {
  return comparers.flatMap(({ unresolved }) => unresolved?.(request.lookup) ?? []);
}

/** Lists the values of the request that the operator cannot read. */
export function unreadableValues({ key, comparers }: CompiledCondition, request: PreparedRequest): readonly string[] {
  return request.values(key).filter((value) => matchesAny(comparers, value, request) === undefined);
}

/** A document with compiled patterns. */
interface CompiledPolicy {
  readonly statements: readonly CompiledStatement[];
  /** A condition or a variable of it is about the tags of the object. */
  readonly needsExistingTags: boolean;
  /** A condition or a variable of it is about the tags of the bucket. */
  readonly needsBucketTags: boolean;
}

export interface CompiledStatement {
  readonly source: PolicyStatement;
  /** Its Sid, or its position as `#1`. */
  readonly label: string;
  readonly principals: readonly PrincipalMatcher[] | undefined;
  readonly actions: readonly CompiledAction[];
  readonly resources: readonly CompiledResource[] | undefined;
  readonly conditions: readonly CompiledCondition[];
}

interface CompiledAction {
  readonly matcher: TextMatcher;
  /** The pattern names a service, as `admin:*` does and `*` does not. */
  readonly namesService: boolean;
}

export interface CompiledResource {
  /** The kind of resource that the pattern can match: buckets and objects, keys of the key service, or all. */
  readonly of: 's3' | 'kms' | 'all';
  readonly value: ValueMatcher;
}

const compiled = new WeakMap<PolicyDocument, CompiledPolicy>();

const existingTags = existingTagKey.toLowerCase();
const bucketTags = bucketTagKey.toLowerCase();

/** Compiles a document once. Documents never change, so the result lives as long as the document. */
export function compilePolicy(document: PolicyDocument): CompiledPolicy {
  const known = compiled.get(document);
  if (known !== undefined) return known;
  // Documents of 2008 have no variables: there `${aws:username}` is plain text.
  const variables = document.version !== '2008-10-17';
  const text = JSON.stringify(document.statements).toLowerCase();
  const policy = {
    statements: document.statements.map((statement, index) => compileStatement(statement, index, variables)),
    needsExistingTags: text.includes(existingTags),
    needsBucketTags: text.includes(bucketTags),
  };
  compiled.set(document, policy);
  return policy;
}

function compileStatement(source: PolicyStatement, index: number, variables: boolean): CompiledStatement {
  return {
    source,
    label: source.sid ?? `#${index + 1}`,
    principals: source.principals?.map(principalMatcher),
    actions: source.actions.patterns.map((pattern) => ({
      matcher: textMatcher(pattern.toLowerCase()),
      namesService: pattern.includes(':'),
    })),
    resources: source.resources?.patterns.map((pattern) => compileResource(pattern, variables)),
    conditions: source.conditions.map((condition) => compileCondition(condition, variables)),
  };
}

function compileResource(pattern: string, variables: boolean): CompiledResource {
  const value = (text: string): ValueMatcher => valueMatcher(text, { variables, wildcards: true });
  if (pattern.startsWith(kmsArn)) return { of: 'kms', value: value(pattern.slice(kmsArn.length)) };
  const bare = pattern.startsWith(s3Arn) ? pattern.slice(s3Arn.length) : pattern;
  // MinIO's own policies write arn:aws:s3:::* and mean everything.
  return { of: bare === '*' ? 'all' : 's3', value: value(bare) };
}
