import { conditionHolds, compilePolicy, type CompiledResource, type CompiledStatement } from './compile-policy.ts';
import type { DecisionInput } from './decide.ts';
import type { NamedPolicy } from './evaluate.ts';
import { PreparedRequest } from './policy-request.ts';
import { matchesWithoutResource, matchesResources } from './match-statement.ts';
import { existingTagKey } from './known-names.ts';
import { matchesEveryAfter, patternMatcher, type TextMatcher } from './glob.ts';
import { resolveTemplate } from './variables.ts';

const existingTags = existingTagKey.toLowerCase();

/** The parts of a request that are unknown before its body is read. */
export interface StillUnknown {
  /** `resource` is only a prefix (`bucket/`) of the resources that the body names. */
  readonly below: boolean;
  /** With `below`: the resources have no further `/`, as the objects directly in a folder. */
  readonly direct?: boolean;
  /**
   * The request must be allowed whatever the body says. With `below` it is for all of these resources, so that one statement must allow all
   * of them, and none may deny any of them.
   */
  readonly every?: boolean;
  /** Condition keys that the body sets, in lower case. A `/` at the end matches any suffix. */
  readonly keys: readonly string[];
}

/**
 * Reports whether `decide` could allow the request when its body is known. It never returns false where `decide` may allow. It may return
 * true where `decide` denies, which only costs the reading of a body. With `every` it never returns true where no statement allows one of the
 * resources: several statements that allow all of them together do not count.
 */
export function couldAllow(input: DecisionInput, unknown: StillUnknown): boolean {
  const { identity, bucket, boundaries = [], acl, request } = input;
  const prepared = new PreparedRequest(request);
  const grants = bucket === undefined ? identity : [...identity, bucket];
  const some = (policies: readonly NamedPolicy[], mayApply: typeof mayAllow) =>
    policies.some(({ document }) => compilePolicy(document).statements.some((one) => mayApply(one, prepared, unknown)));
  if (acl === undefined && !some(grants, mayAllow)) return false;
  return boundaries.every((one) => some([one], mayAllow)) && !some([...grants, ...boundaries], surelyDenies);
}

/**
 * Reports whether a statement could deny an action on the resource, or on one of those below a prefix. It never returns false where `decide` denies one
 * by a statement. It may return true where none is denied, since it does not know the tags of the resources.
 */
export function couldDeny(
  { identity, bucket, boundaries = [], request }: DecisionInput,
  unknown: StillUnknown,
): boolean {
  const prepared = new PreparedRequest(request);
  const policies = [...identity, ...boundaries, ...(bucket === undefined ? [] : [bucket])];
  return policies.some(({ document }) =>
    compilePolicy(document).statements.some((statement) => {
      const { source, conditions } = statement;
      if (source.effect !== 'Deny' || !matchesWithoutResource(statement, prepared)) return false;
      if (unknown.below ? !reachesBelow(statement, prepared, unknown) : !matchesResources(statement, prepared)) {
        return false;
      }
      return conditions.every(
        (condition) => isUnknown(condition.key, unknown) || conditionHolds(condition, prepared, 'Deny'),
      );
    }),
  );
}

function mayAllow(statement: CompiledStatement, request: PreparedRequest, unknown: StillUnknown): boolean {
  const { source, conditions } = statement;
  if (source.effect !== 'Allow' || !matchesWithoutResource(statement, request)) return false;
  if (unknown.every === true) {
    return (
      (unknown.below ? coversBelow(statement, request) : matchesResources(statement, request)) &&
      conditions.every((condition) => !isUnknown(condition.key, unknown) && conditionHolds(condition, request, 'Allow'))
    );
  }
  if (unknown.below ? !reachesBelow(statement, request, unknown) : !matchesResources(statement, request)) return false;
  return conditions.every(
    (condition) => isUnknown(condition.key, unknown) || conditionHolds(condition, request, 'Allow'),
  );
}

/** The tags of an object are unknown as long as the object is. */
function isUnknown(key: string, { below, keys }: StillUnknown): boolean {
  if (below && key.startsWith(existingTags)) return true;
  return keys.some((known) => (known.endsWith('/') ? key.startsWith(known) : key === known));
}

function surelyDenies(statement: CompiledStatement, request: PreparedRequest, unknown: StillUnknown): boolean {
  const { source, conditions } = statement;
  if (source.effect !== 'Deny' || conditions.length > 0 || !matchesWithoutResource(statement, request)) return false;
  return unknown.below ? coversBelow(statement, request) : matchesResources(statement, request);
}

function reachesBelow(
  { source, resources }: CompiledStatement,
  request: PreparedRequest,
  { direct = false }: StillUnknown,
): boolean {
  if (resources === undefined || source.resources?.kind !== 'only') return true;
  // Older statements with actions of keys have S3 resources, which never counted.
  if (request.service === 'kms' && resources.every(({ of }) => of === 's3')) return true;
  return resources.some((resource) => {
    const matcher = matcherOf(resource, request);
    return matcher !== undefined && reaches(matcher, request.resource, direct);
  });
}

/** Reports whether the pattern could match a resource with this prefix. */
function reaches(matcher: TextMatcher, prefix: string, direct: boolean): boolean {
  if (matcher.kind === 'anything') return true;
  const text = matcher.kind === 'exactly' ? matcher.text : matcher.prefix;
  if (text.startsWith(prefix)) return !direct || !text.includes('/', prefix.length);
  return matcher.kind !== 'exactly' && prefix.startsWith(text);
}

/** Reports whether the statement covers every resource with this prefix. */
function coversBelow({ source, resources }: CompiledStatement, request: PreparedRequest): boolean {
  if (resources === undefined) return true;
  const matchers = resources.map((resource) => matcherOf(resource, request));
  if (source.resources?.kind === 'only') {
    return matchers.some((matcher) => matcher !== undefined && matchesEveryAfter(matcher, request.resource));
  }
  // A variable without a value could stand for anything.
  return matchers.every((matcher) => matcher !== undefined && !reaches(matcher, request.resource, false));
}

/** Returns undefined if the pattern matches nothing of this service. */
function matcherOf({ of, value }: CompiledResource, request: PreparedRequest): TextMatcher | undefined {
  if (of !== 'all' && (of === 'kms') !== (request.service === 'kms')) return undefined;
  if (value.kind === 'constant') return value.matcher;
  const pattern = resolveTemplate(value.template, request.lookup);
  return pattern && patternMatcher(pattern);
}
