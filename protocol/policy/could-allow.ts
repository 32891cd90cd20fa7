import { conditionHolds, compilePolicy, type CompiledResource, type CompiledStatement } from './compile-policy.ts';
import type { DecisionInput } from './decide.ts';
import type { NamedPolicy } from './evaluate.ts';
import { PreparedRequest } from './policy-request.ts';
import { fitsWithoutResource, resourcesFit } from './match-statement.ts';
import { patternMatcher, type TextMatcher } from './glob.ts';
import { resolveTemplate } from './variables.ts';

/** What is not yet known of a request that is asked about before its body is read. */
export interface StillUnknown {
  /** Whether `resource` is only the beginning (`bucket/`) of the resources that the body names. */
  readonly below: boolean;
  /** Condition keys that the body sets, in lower case. */
  readonly keys: readonly string[];
}

/**
 * Whether `decide` could allow the request once all is known of it. It never says no where `decide` may say yes; it may say yes where
 * the whole request is denied, which only costs the reading of a body.
 */
export function couldAllow(input: DecisionInput, unknown: StillUnknown): boolean {
  const { identity, bucket, boundaries = [], request } = input;
  const prepared = new PreparedRequest(request);
  const grants = bucket === undefined ? identity : [...identity, bucket];
  const some = (policies: readonly NamedPolicy[], fits: typeof mayAllow) =>
    policies.some(({ document }) => compilePolicy(document).statements.some((one) => fits(one, prepared, unknown)));
  if (!some(grants, mayAllow)) return false;
  return boundaries.every((one) => some([one], mayAllow)) && !some([...grants, ...boundaries], surelyDenies);
}

function mayAllow(statement: CompiledStatement, request: PreparedRequest, unknown: StillUnknown): boolean {
  const { source, conditions } = statement;
  if (source.effect !== 'Allow' || !fitsWithoutResource(statement, request)) return false;
  if (unknown.below ? !reachesBelow(statement, request) : !resourcesFit(statement, request)) return false;
  return conditions.every(
    (condition) => unknown.keys.includes(condition.key) || conditionHolds(condition, request, 'Allow'),
  );
}

function surelyDenies(statement: CompiledStatement, request: PreparedRequest, unknown: StillUnknown): boolean {
  const { source, conditions } = statement;
  if (source.effect !== 'Deny' || conditions.length > 0 || !fitsWithoutResource(statement, request)) return false;
  return unknown.below ? coversBelow(statement, request) : resourcesFit(statement, request);
}

function reachesBelow({ source, resources }: CompiledStatement, request: PreparedRequest): boolean {
  if (resources === undefined || source.resources?.kind !== 'only') return true;
  return resources.some((resource) => {
    const matcher = matcherOf(resource, request);
    if (matcher === undefined || matcher.kind === 'anything') return matcher !== undefined;
    const text = matcher.kind === 'exactly' ? matcher.text : matcher.prefix;
    if (text.startsWith(request.resource)) return true;
    return matcher.kind !== 'exactly' && request.resource.startsWith(text);
  });
}

/** Whether every resource that begins so is meant. */
function coversBelow({ source, resources }: CompiledStatement, request: PreparedRequest): boolean {
  if (resources === undefined) return true;
  if (source.resources?.kind !== 'only') return false;
  return resources.some((resource) => {
    const matcher = matcherOf(resource, request);
    if (matcher?.kind === 'anything') return true;
    return matcher?.kind === 'beginning' && request.resource.startsWith(matcher.prefix);
  });
}

/** Undefined where the pattern matches nothing of this service. */
function matcherOf({ of, value }: CompiledResource, request: PreparedRequest): TextMatcher | undefined {
  if (of === 'kms') return undefined;
  if (value.kind === 'constant') return value.matcher;
  const pattern = resolveTemplate(value.template, request.lookup);
  return pattern && patternMatcher(pattern);
}
