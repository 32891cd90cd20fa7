import {
  unreadableValues,
  unresolvedVariables,
  type CompiledCondition,
  compilePolicy,
  type CompiledStatement,
} from './compile-policy.ts';
import { decide, type DecisionInput, type PolicySource } from './decide.ts';
import type { NamedPolicy } from './evaluate.ts';
import type { Explanation, Mismatch, PolicyExplanation, StatementExplanation } from './explanation.ts';
import { PreparedRequest } from './policy-request.ts';
import { firstMismatch } from './match-statement.ts';
import { unresolvedIn } from './variables.ts';

/** Makes the same decision as `decide`, and reports for each statement of each policy whether it matched. */
export function explain(input: DecisionInput): Explanation {
  const { identity, bucket, boundaries = [], request } = input;
  const prepared = new PreparedRequest(request);
  const all: readonly (readonly [PolicySource, NamedPolicy])[] = [
    ...identity.map((policy) => ['identity', policy] as const),
    ...(bucket === undefined ? [] : [['bucket', bucket] as const]),
    ...boundaries.map((policy) => ['boundary', policy] as const),
  ];
  return {
    ...decide(input),
    action: request.action,
    resource: request.resource,
    policies: all.map(([source, policy]) => explainPolicy(source, policy, prepared)),
  };
}

function explainPolicy(source: PolicySource, policy: NamedPolicy, request: PreparedRequest): PolicyExplanation {
  const statements = compilePolicy(policy.document).statements.map((statement) => explainStatement(statement, request));
  const says = (effect: 'Allow' | 'Deny') => statements.some((one) => one.applied && one.effect === effect);
  return {
    source,
    policy: policy.name,
    effect: says('Deny') ? 'deny' : says('Allow') ? 'allow' : 'none',
    statements,
  };
}

function explainStatement(statement: CompiledStatement, request: PreparedRequest): StatementExplanation {
  const { label, source } = statement;
  const first = firstMismatch(statement, request);
  const outcome = { statement: label, effect: source.effect };
  if (first === undefined) return { ...outcome, applied: true };
  switch (first) {
    case 'principal':
      return { ...outcome, applied: false, mismatch: principalMismatch(statement, request) };
    case 'action':
      return { ...outcome, applied: false, mismatch: actionMismatch(statement, request) };
    case 'resource':
      return { ...outcome, applied: false, mismatch: resourceMismatch(statement, request) };
    default:
      return { ...outcome, applied: false, mismatch: conditionMismatch(first, request) };
  }
}

function principalMismatch({ source }: CompiledStatement, request: PreparedRequest): Mismatch {
  return { element: 'Principal', expected: source.principals ?? [], actual: request.principals ?? [] };
}

function actionMismatch({ source }: CompiledStatement, request: PreparedRequest): Mismatch {
  const { kind, patterns } = source.actions;
  return { element: kind === 'only' ? 'Action' : 'NotAction', expected: patterns, actual: request.asked.action };
}

function resourceMismatch({ source, resources = [] }: CompiledStatement, request: PreparedRequest): Mismatch {
  const unresolved = resources.flatMap(({ value }) => unresolvedIn(value, request.lookup));
  return {
    element: source.resources?.kind === 'all-but' ? 'NotResource' : 'Resource',
    expected: source.resources?.patterns ?? [],
    actual: request.resource,
    ...(unresolved.length === 0 ? {} : { unresolved: distinct(unresolved) }),
  };
}

/** The values of these keys are secrets. An explanation shows that the request had them, and not the values. */
const secretKeys = /customer-key$|security-token$/;

function conditionMismatch(condition: CompiledCondition, request: PreparedRequest): Mismatch {
  const { source, key, comparers } = condition;
  const secret = secretKeys.test(key);
  const actual = request.values(key).map((value) => (secret ? '(not shown)' : value));
  const unresolved = unresolvedVariables(comparers, request);
  const unreadable = secret ? [] : unreadableValues(condition, request);
  return {
    element: 'Condition',
    operator: source.operator,
    key: source.key,
    expected: source.values,
    ...(actual.length === 0 ? {} : { actual }),
    ...(unresolved.length === 0 ? {} : { unresolved: distinct(unresolved) }),
    ...(unreadable.length === 0 ? {} : { unreadable }),
  };
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}
