import { kmsArn, s3Arn } from './arns.ts';
import type { PolicyCondition, PolicyDocument, PolicyStatement } from './document.ts';

/**
 * Reports whether everything that `granted` allows to any principal is allowed by `boundary` too, to any principal. It is conservative: it
 * returns true only if one statement of the boundary covers each action and resource of each granted Allow, and it may return false where
 * several statements do so together.
 */
export function isWithin(granted: PolicyDocument, boundary: PolicyDocument): boolean {
  const allows = granted.statements.filter(({ effect }) => effect === 'Allow');
  const denies = granted.statements.filter(({ effect }) => effect === 'Deny');
  return (
    boundary.statements.every((statement) =>
      statement.effect === 'Allow'
        ? true
        : denies.some((deny) => isSameForAll(statement, deny)) ||
          allows.every((allow) => areDisjoint(statement, allow)),
    ) && allows.every((allow) => isCovered(allow, boundary))
  );
}

/** Reports whether a boundary excludes nothing: what holds to it may do all that an administrator may. */
export function isUnrestricted(boundary: PolicyDocument): boolean {
  return isWithin(everyAction, boundary);
}

const everyAction: PolicyDocument = {
  version: '2012-10-17',
  statements: ['s3:*', 'admin:*', 'kms:*'].map((action) => ({
    effect: 'Allow',
    actions: { kind: 'only', patterns: [action] },
    resources: { kind: 'only', patterns: ['*'] },
    conditions: [],
  })),
};

function isCovered(allow: PolicyStatement, { statements }: PolicyDocument): boolean {
  const covers = statements.filter(
    ({ effect, conditions }) => effect === 'Allow' && conditions.every((one) => isRepeated(one, allow.conditions)),
  );
  if (allow.actions.kind === 'all-but') {
    return covers.some(({ actions, resources }) => isAnyAction(actions) && includesEverything(resources));
  }
  return allow.actions.patterns.every((action) => {
    const fitting = covers.flatMap((statement) => {
      const pattern =
        statement.actions.kind === 'only' ? coveringAction(statement.actions.patterns, action) : undefined;
      return pattern === undefined ? [] : [{ pattern, resources: statement.resources }];
    });
    if (fitting.some(({ resources }) => includesEverything(resources))) return true;
    const resources = allow.resources;
    if (resources?.kind !== 'only') return false;
    return resources.patterns.every((resource) =>
      fitting.some((one) => {
        if (one.resources?.kind !== 'only' || !countsResources(action, one.pattern, resources.patterns)) return false;
        return one.resources.patterns.some((pattern) => coversResource(pattern, resource));
      }),
    );
  });
}

/** Prefers a pattern that names its service: resources do not restrict calls of admin, sts and kms that name none. */
function coveringAction(patterns: readonly string[], action: string): string | undefined {
  const fitting = patterns.filter((pattern) => covers(pattern.toLowerCase(), action.toLowerCase()));
  return fitting.find((pattern) => pattern.includes(':')) ?? fitting[0];
}

function isAnyAction({ kind, patterns }: PolicyStatement['actions']): boolean {
  return kind === 'only' && patterns.includes('*');
}

function includesEverything(resources: PolicyStatement['resources']): boolean {
  return resources === undefined || (resources.kind === 'only' && resources.patterns.some(isEverything));
}

/** A resource `*` also means keys and calls without a resource. */
function isEverything(resource: string): boolean {
  return !resource.startsWith(kmsArn) && bare(resource) === '*';
}

/**
 * Reports whether the resources of the boundary's statement apply wherever those of the granted one do. Actions of other services than s3
 * ignore some resources (`ignoresResource` in match-statement.ts).
 */
function countsResources(action: string, covering: string, granted: readonly string[]): boolean {
  const [service = ''] = action.toLowerCase().split(':', 1);
  if (service === 's3') return true;
  if (!covering.includes(':')) return service === '*';
  return service !== 'kms' || granted.every((resource) => resource.startsWith(kmsArn));
}

function coversResource(pattern: string, resource: string): boolean {
  // A variable has another value for each principal.
  if (pattern.includes('${') || pattern.startsWith(kmsArn) !== resource.startsWith(kmsArn)) return false;
  return !isEverything(resource) && covers(bare(pattern), withoutVariables(bare(resource)));
}

/** Reports whether the statement of the boundary has a condition that the granted one repeats, and that no principal changes. */
function isRepeated(condition: PolicyCondition, conditions: readonly PolicyCondition[]): boolean {
  if (!isAboutTheRequest(condition)) return false;
  return conditions.some((one) => sameCondition(one, condition));
}

/** Keys whose value comes from the request or the object, not from the principal. */
const requestKeys =
  /^(s3:(?!resourceaccount)|aws:(sourceip|securetransport|currenttime|epochtime|useragent|referer)$)/i;

function isAboutTheRequest({ key, values }: PolicyCondition): boolean {
  return requestKeys.test(key) && !values.some((value) => value.includes('${'));
}

function sameCondition(a: PolicyCondition, b: PolicyCondition): boolean {
  return a.operator === b.operator && a.key.toLowerCase() === b.key.toLowerCase() && sameTexts(a.values, b.values);
}

/** Reports whether two statements deny the same to every principal. */
function isSameForAll(a: PolicyStatement, b: PolicyStatement): boolean {
  if (!a.conditions.every(isAboutTheRequest) || a.resources?.patterns.some((one) => one.includes('${')) === true) {
    return false;
  }
  return (
    a.actions.kind === b.actions.kind &&
    sameTexts(a.actions.patterns, b.actions.patterns) &&
    a.resources?.kind === b.resources?.kind &&
    sameTexts(a.resources?.patterns ?? [], b.resources?.patterns ?? []) &&
    a.conditions.length === b.conditions.length &&
    a.conditions.every((one) => b.conditions.some((other) => sameCondition(one, other)))
  );
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.every((text) => b.includes(text)) && b.every((text) => a.includes(text));
}

/** Reports whether no request matches both statements. */
function areDisjoint(deny: PolicyStatement, allow: PolicyStatement): boolean {
  if (deny.actions.kind === 'all-but' || allow.actions.kind === 'all-but') return false;
  const both = allow.actions.patterns.filter((action) =>
    deny.actions.patterns.some((denied) => overlap(denied.toLowerCase(), action.toLowerCase())),
  );
  if (both.length === 0) return true;
  if (deny.resources?.kind !== 'only' || allow.resources?.kind !== 'only') return false;
  // Other services ignore some resources.
  if (!both.every((action) => action.toLowerCase().startsWith('s3:'))) return false;
  const denied = deny.resources.patterns;
  return allow.resources.patterns.every((resource) => !denied.some((one) => resourcesOverlap(one, resource)));
}

/** A bucket also matches as `bucket/`. */
function resourcesOverlap(one: string, other: string): boolean {
  const [a, b] = [withoutVariables(bare(one)), withoutVariables(bare(other))];
  return overlap(a, b) || overlap(`${a}/`, b) || overlap(a, `${b}/`);
}

function bare(resource: string): string {
  if (resource.startsWith(kmsArn)) return resource.slice(kmsArn.length);
  return resource.startsWith(s3Arn) ? resource.slice(s3Arn.length) : resource;
}

/** A variable can be any text. */
function withoutVariables(pattern: string): string {
  return pattern.replaceAll(/\$\{[^}]*\}/g, '*');
}

/** Reports whether every text that `inner` matches is matched by `outer`. `*` and `?` are wildcards in both. */
function covers(outer: string, inner: string): boolean {
  return walk(outer, inner, (wild, one) => wild === '?' && one !== '*');
}

/** Reports whether some text is matched by both. */
function overlap(a: string, b: string): boolean {
  // Each row has the positions of `b` that a prefix of `a` can reach.
  let row = closed(new Set([0]), b);
  for (const unit of a) {
    const next = new Set<number>();
    for (const at of row) {
      if (unit === '*') for (let to = at; to <= b.length; to += 1) next.add(to);
      else if (b[at] === '*') next.add(at);
      else if (at < b.length && (unit === '?' || b[at] === '?' || b[at] === unit)) next.add(at + 1);
    }
    row = closed(next, b);
  }
  return row.has(b.length);
}

/** Adds what is reached where a `*` of the pattern stands for nothing. */
function closed(positions: Set<number>, pattern: string): Set<number> {
  for (const at of positions) if (pattern[at] === '*') positions.add(at + 1);
  return positions;
}

/** Matches `inner` as text, in which the wildcard `*` is matched by `*` only. */
function walk(outer: string, inner: string, fits: (wild: string, one: string) => boolean): boolean {
  let row = closed(new Set([0]), outer);
  for (const unit of inner) {
    const next = new Set<number>();
    for (const at of row) {
      const wild = outer[at] ?? '';
      if (wild === '*') next.add(at);
      else if ((wild === unit && unit !== '*') || fits(wild, unit)) next.add(at + 1);
    }
    row = closed(next, outer);
  }
  return row.has(outer.length);
}
