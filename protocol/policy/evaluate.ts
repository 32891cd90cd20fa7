import { conditionHolds, isNegated } from './conditions.ts';
import type { PolicyDocument, PolicyStatement } from './document.ts';
import { patternMatches, resolveText, type Variables } from './variables.ts';
import { matchesPrincipal } from './principals.ts';
import type { PrincipalNames } from './principals.ts';
import { matches, parsePattern } from './wildcard.ts';

export interface NamedPolicy {
  readonly name: string;
  readonly document: PolicyDocument;
}

export interface PolicyRequest {
  /** e.g. `s3:GetObject`; compared without regard to case. */
  readonly action: string;
  /** `bucket/key`, `bucket`, or `''` for admin actions; with or without `arn:aws:s3:::`. */
  readonly resource: string;
  /** Condition keys, compared without regard to case, e.g. `s3:prefix`, `aws:SourceIp`. */
  readonly context: Readonly<Record<string, readonly string[]>>;
  /** What `${…}` stands for, by name: `aws:username`, `jwt:preferred_username`. Absent names match nothing. */
  readonly variables: Readonly<Record<string, string>>;
  /** Names of who asks, for statements that say whom they are about; without it such a statement fits nobody. */
  readonly principals?: PrincipalNames;
}

export interface Evaluation {
  /** `none`: no statement matched, which means no. */
  readonly effect: 'allow' | 'deny' | 'none';
  /** The name of the policy that decided. */
  readonly policy?: string;
  /** Its statement: the Sid, or its position as `#1`. */
  readonly statement?: string;
  /** One sentence for the log and admin tools, never for strangers. */
  readonly reason: string;
}

interface Prepared {
  readonly action: string;
  readonly resource: string;
  readonly context: ReadonlyMap<string, readonly string[]>;
  readonly variables: Variables | undefined;
  readonly principals: PrincipalNames | undefined;
}

const arn = 'arn:aws:s3:::';

/**
 * What the policies together say: one explicit Deny outweighs every Allow, and silence is `none`.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
 */
export function evaluate(policies: readonly NamedPolicy[], request: PolicyRequest): Evaluation {
  const prepared = prepare(request);
  let allowed: Evaluation | undefined;
  for (const policy of policies) {
    for (const [index, statement] of policy.document.statements.entries()) {
      if (statement.effect === 'Allow' && allowed !== undefined) continue;
      if (!applies(statement, asOf(policy.document, prepared))) continue;
      const decided = decision(policy.name, statement, index, request);
      if (decided.effect === 'deny') return decided;
      allowed = decided;
    }
  }
  return allowed ?? { effect: 'none', reason: `no statement ${among(policies)} allows ${describe(request)}` };
}

function prepare(request: PolicyRequest): Prepared {
  return {
    action: request.action.toLowerCase(),
    resource: bare(request.resource),
    context: new Map(Object.entries(request.context).map(([key, values]) => [key.toLowerCase(), values])),
    principals: request.principals,
    variables: new Map(Object.entries(request.variables).map(([name, value]) => [name.toLowerCase(), value])),
  };
}

/** Documents of 2008 know no variables: there `${aws:username}` is plain text. */
function asOf(document: PolicyDocument, request: Prepared): Prepared {
  return document.version === '2008-10-17' ? { ...request, variables: undefined } : request;
}

function applies(statement: PolicyStatement, request: Prepared): boolean {
  const { actions, resources, conditions } = statement;
  if (!isAbout(statement, request.principals)) return false;
  const named = actions.patterns.some((pattern) => matches(parsePattern(pattern.toLowerCase()), request.action));
  if (named !== (actions.kind === 'only')) return false;
  if (statement.effect === 'Allow' && excludesUnknown(statement, request.variables)) return false;
  // Admin actions have no resource, so that whatever a statement says of resources does not restrict them.
  if (resources !== undefined && (request.resource !== '' || request.action.startsWith('s3:'))) {
    const covered = resources.patterns.some((pattern) => resourceMatches(pattern, request, statement));
    if (covered !== (resources.kind === 'only')) return false;
  }
  return conditions.every((condition) => conditionHolds(condition, request.context, request.variables));
}

function isAbout({ principals }: PolicyStatement, names: PrincipalNames | undefined): boolean {
  if (principals === undefined) return true;
  return names !== undefined && matchesPrincipal(principals, names);
}

/**
 * Whether the statement excludes something by a variable that has no value. Such a pattern matches nothing, so that an Allow
 * would then exclude nothing: "all but your own" must not become "all". (A Deny denies too much instead, which is safe.)
 */
function excludesUnknown(statement: PolicyStatement, variables: Variables | undefined): boolean {
  const { resources, conditions } = statement;
  const excluded = resources?.kind === 'all-but' ? resources.patterns : [];
  return [...excluded, ...conditions.filter(isNegated).flatMap(({ values }) => values)].some(
    (text) => resolveText(text, variables) === undefined,
  );
}

/**
 * A bucket is also matched as `bucket/`: the policies of MinIO deployments give rights on a whole bucket by
 * `arn:aws:s3:::bucket/*` alone, and a Deny so written covers the bucket too. Not so where a bucket's own policy opens it: who
 * gives strangers the objects does not mean the bucket.
 */
function resourceMatches(pattern: string, request: Prepared, { effect, principals }: PolicyStatement): boolean {
  const wanted = bare(pattern);
  if (patternMatches(wanted, request.resource, request.variables)) return true;
  if (principals !== undefined && effect === 'Allow') return false;
  const isBucket = request.resource !== '' && !request.resource.includes('/');
  return isBucket && patternMatches(wanted, `${request.resource}/`, request.variables);
}

function bare(resource: string): string {
  return resource.startsWith(arn) ? resource.slice(arn.length) : resource;
}

function decision(policy: string, statement: PolicyStatement, index: number, request: PolicyRequest): Evaluation {
  const effect = statement.effect === 'Allow' ? 'allow' : 'deny';
  const name = statement.sid ?? `#${index + 1}`;
  const verb = effect === 'allow' ? 'allows' : 'denies';
  return {
    effect,
    policy,
    statement: name,
    reason: `statement ${name} of policy "${policy}" ${verb} ${describe(request)}`,
  };
}

function describe(request: PolicyRequest): string {
  return request.resource === '' ? request.action : `${request.action} on "${request.resource}"`;
}

function among(policies: readonly NamedPolicy[]): string {
  return policies.length === 0
    ? 'was looked at, since there is no policy that'
    : `of ${policies.map(({ name }) => `"${name}"`).join(', ')}`;
}
