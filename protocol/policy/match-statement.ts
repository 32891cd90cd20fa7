import {
  conditionHolds,
  type CompiledCondition,
  type CompiledResource,
  type CompiledStatement,
} from './compile-policy.ts';
import type { PreparedRequest } from './policy-request.ts';
import type { PolicyStatement } from './document.ts';
import { fitsPrincipal, type PrincipalMatcher } from './arns.ts';
import { fitsText } from './glob.ts';
import { fitsValue, unresolvedIn } from './variables.ts';

/** The first element of a statement that does not fit. */
type FirstMismatch = 'principal' | 'action' | 'resource' | CompiledCondition;

/**
 * Why a statement does not apply to a request; undefined where it does. Decisions and explanations both come from here, so that they
 * cannot differ.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html
 */
export function firstMismatch(statement: CompiledStatement, request: PreparedRequest): FirstMismatch | undefined {
  const { source, principals, actions, conditions } = statement;
  if (principals !== undefined && !isAbout(principals, source.effect, request)) return 'principal';
  if (namesAction(actions, request) !== (source.actions.kind === 'only')) return 'action';
  if (!resourcesFit(statement, request)) return 'resource';
  for (const condition of conditions) if (!conditionHolds(condition, request, source.effect)) return condition;
  return undefined;
}

/** Whether principal and action fit: all that is known of a request whose resource is not. */
export function fitsWithoutResource(
  { source, principals, actions }: CompiledStatement,
  request: PreparedRequest,
): boolean {
  if (principals !== undefined && !isAbout(principals, source.effect, request)) return false;
  return namesAction(actions, request) === (source.actions.kind === 'only');
}

/** A subject matches by its own names. An access key counts for a Deny alone, since its owner chooses it. */
function isAbout(
  principals: readonly PrincipalMatcher[],
  effect: PolicyStatement['effect'],
  request: PreparedRequest,
): boolean {
  if (request.principals === undefined) return false;
  if (fitsPrincipal(principals, request.principals)) return true;
  return effect === 'Deny' && request.accessKey !== undefined && fitsPrincipal(principals, [request.accessKey]);
}

// Loops, not `some`: a closure for each statement was a tenth of a decision.
function namesAction(actions: CompiledStatement['actions'], request: PreparedRequest): boolean {
  for (const { matcher } of actions) if (fitsText(matcher, request.action)) return true;
  return false;
}

export function resourcesFit(statement: CompiledStatement, request: PreparedRequest): boolean {
  const { source, resources } = statement;
  if (resources === undefined || source.resources === undefined) return true;
  if (speaksOfNoResource(statement, resources, request)) return true;
  const except = source.resources.kind === 'all-but';
  // An Allow would exclude nothing by a pattern that matches nothing. (A Deny denies too much instead, which is safe.)
  if (except && source.effect === 'Allow' && resources.some(({ value }) => isUnresolved(value, request))) return false;
  for (const resource of resources) if (covers(resource, statement, request)) return !except;
  return except;
}

/**
 * Whether Resource says nothing of this request, as MinIO has it: actions of admin, sts and kms that name no resource are not
 * restricted by one, provided that the statement names their service (`admin:*`). A bare `*` with `arn:aws:s3:::bucket/*` gives
 * everything in the bucket, and nothing else. Statements with kms actions were once written with S3 resources, which never counted.
 */
function speaksOfNoResource(
  { source, actions }: CompiledStatement,
  resources: readonly CompiledResource[],
  request: PreparedRequest,
): boolean {
  if (request.service === 's3' || source.actions.kind === 'all-but') return false;
  if (request.resource !== '' && (request.service !== 'kms' || resources.some((resource) => resource.of !== 's3'))) {
    return false;
  }
  return actions.some(({ matcher, namesService }) => namesService && fitsText(matcher, request.action));
}

/**
 * A bucket is also matched as `bucket/`: the policies of MinIO deployments give rights on a whole bucket by
 * `arn:aws:s3:::bucket/*` alone, and a Deny so written covers the bucket too. Not so where a bucket's own policy opens it: who
 * gives strangers the objects does not mean the bucket.
 */
function covers(resource: CompiledResource, { source }: CompiledStatement, request: PreparedRequest): boolean {
  const { of, value } = resource;
  if (of !== 'all' && (of === 'kms') !== (request.service === 'kms')) return false;
  if (fitsValue(value, request.resource, request.lookup)) return true;
  if (request.bucketAsFolder === undefined) return false;
  if (source.principals !== undefined && source.effect === 'Allow') return false;
  return fitsValue(value, request.bucketAsFolder, request.lookup);
}

function isUnresolved(value: CompiledResource['value'], request: PreparedRequest): boolean {
  return unresolvedIn(value, request.lookup).length > 0;
}
