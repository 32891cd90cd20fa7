import {
  conditionHolds,
  type CompiledCondition,
  type CompiledResource,
  type CompiledStatement,
} from './compile-policy.ts';
import type { PreparedRequest } from './policy-request.ts';
import type { PolicyStatement } from './document.ts';
import { matchesPrincipal, type PrincipalMatcher } from './arns.ts';
import { matchesText } from './glob.ts';
import { matchesValue, unresolvedIn } from './variables.ts';

/** The first element of a statement that does not match. */
type FirstMismatch = 'principal' | 'action' | 'resource' | CompiledCondition;

/**
 * Says why a statement does not apply to a request. Returns undefined if it applies. Decisions and explanations both use this function, so
 * that they cannot differ.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html
 */
export function firstMismatch(statement: CompiledStatement, request: PreparedRequest): FirstMismatch | undefined {
  const { source, principals, actions, conditions } = statement;
  if (principals !== undefined && !matchesPrincipals(principals, source.effect, request)) return 'principal';
  if (matchesAction(actions, request) !== (source.actions.kind === 'only')) return 'action';
  if (!matchesResources(statement, request)) return 'resource';
  for (const condition of conditions) if (!conditionHolds(condition, request, source.effect)) return condition;
  return undefined;
}

/** Reports whether principal and action match, for a request whose resource is not known yet. */
export function matchesWithoutResource(
  { source, principals, actions }: CompiledStatement,
  request: PreparedRequest,
): boolean {
  if (principals !== undefined && !matchesPrincipals(principals, source.effect, request)) return false;
  return matchesAction(actions, request) === (source.actions.kind === 'only');
}

/** Matches the principal. A subject matches by its own names. An access key counts for a Deny only, because its owner chooses it. */
function matchesPrincipals(
  principals: readonly PrincipalMatcher[],
  effect: PolicyStatement['effect'],
  request: PreparedRequest,
): boolean {
  if (request.principals === undefined) return false;
  if (matchesPrincipal(principals, request.principals)) return true;
  return effect === 'Deny' && request.accessKey !== undefined && matchesPrincipal(principals, [request.accessKey]);
}

// This is a loop because a closure for each statement took a tenth of a decision.
function matchesAction(actions: CompiledStatement['actions'], request: PreparedRequest): boolean {
  for (const { matcher } of actions) if (matchesText(matcher, request.action)) return true;
  return false;
}

export function matchesResources(statement: CompiledStatement, request: PreparedRequest): boolean {
  const { source, resources } = statement;
  if (resources === undefined || source.resources === undefined) return true;
  if (ignoresResource(statement, resources, request)) return true;
  const except = source.resources.kind === 'all-but';
  // With an unresolved variable an Allow would exclude nothing. (A Deny denies too much instead, which is safe.)
  if (except && source.effect === 'Allow' && resources.some(({ value }) => isUnresolved(value, request))) return false;
  for (const resource of resources) if (matchesResource(resource, statement, request)) return !except;
  return except;
}

/**
 * Reports whether Resource does not count, as in MinIO. Actions of admin, sts and kms that name no resource are not restricted by one if
 * the statement names their service (`admin:*`). A bare `*` with `arn:aws:s3:::bucket/*` gives everything in the bucket, and nothing else.
 * Older statements with kms actions have S3 resources, which never counted.
 */
function ignoresResource(
  { source, actions }: CompiledStatement,
  resources: readonly CompiledResource[],
  request: PreparedRequest,
): boolean {
  if (request.service === 's3' || source.actions.kind === 'all-but') return false;
  if (request.resource !== '' && (request.service !== 'kms' || resources.some((resource) => resource.of !== 's3'))) {
    return false;
  }
  return actions.some(({ matcher, namesService }) => namesService && matchesText(matcher, request.action));
}

/**
 * Matches the resource. A bucket also matches as `bucket/`: the policies of MinIO deployments give rights on a whole bucket by
 * `arn:aws:s3:::bucket/*` alone, and a Deny in this form covers the bucket too. An Allow of a bucket policy is an exception: an author who
 * opens the objects to everyone does not mean the bucket.
 */
function matchesResource(resource: CompiledResource, { source }: CompiledStatement, request: PreparedRequest): boolean {
  const { of, value } = resource;
  if (of !== 'all' && (of === 'kms') !== (request.service === 'kms')) return false;
  if (matchesValue(value, request.resource, request.lookup)) return true;
  if (request.bucketAsFolder === undefined) return false;
  if (source.principals !== undefined && source.effect === 'Allow') return false;
  return matchesValue(value, request.bucketAsFolder, request.lookup);
}

function isUnresolved(value: CompiledResource['value'], request: PreparedRequest): boolean {
  return unresolvedIn(value, request.lookup).length > 0;
}
