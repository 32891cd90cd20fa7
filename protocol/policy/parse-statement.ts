import type { PolicyStatement } from './document.ts';
import { parseConditions } from './parse-conditions.ts';
import { checkVariables, onlyFields, optionalText, readObject, refuse, textList } from './policy-fields.ts';
import type { PolicyObject } from './policy-fields.ts';
import { kmsArn, s3Arn } from './resource-arn.ts';

const fields = [
  'Sid',
  'Effect',
  'Principal',
  'NotPrincipal',
  'Action',
  'NotAction',
  'Resource',
  'NotResource',
  'Condition',
];

export type ParsePrincipals = (statement: PolicyObject, path: string) => readonly string[];

/** `path` is where the statement stands, for messages: `Statement[0]`. */
export function parseStatement(
  value: unknown,
  path: string,
  parsePrincipals: ParsePrincipals = noPrincipals,
): PolicyStatement {
  const statement = readObject(value, path);
  const principals = parsePrincipals(statement, path);
  onlyFields(statement, fields, path);
  const sid = optionalText(statement, 'Sid', `${path}.Sid`);
  const actions = parseActions(statement, path);
  const resources = parseResources(statement, path);
  if (resources === undefined && needsResource(actions)) {
    refuse(`${path}.Resource`, undefined, 'is missing: actions on buckets and objects need a Resource or NotResource');
  }
  return {
    ...(sid === undefined ? {} : { sid }),
    ...(principals.length === 0 ? {} : { principals }),
    effect: parseEffect(statement['Effect'], `${path}.Effect`),
    actions,
    ...(resources === undefined ? {} : { resources }),
    conditions: parseConditions(statement['Condition'], `${path}.Condition`),
  };
}

function noPrincipals(statement: PolicyObject, path: string): readonly string[] {
  for (const field of ['Principal', 'NotPrincipal']) {
    if (field in statement)
      refuse(`${path}.${field}`, statement[field], 'is not allowed: the policy is about whoever it is attached to');
  }
  return [];
}

function parseEffect(value: unknown, path: string): PolicyStatement['effect'] {
  return value === 'Allow' || value === 'Deny' ? value : refuse(path, value, 'must be "Allow" or "Deny"');
}

/** Exactly one of a field and its negation. */
function oneOf(
  statement: PolicyObject,
  field: string,
  path: string,
): { kind: 'only' | 'all-but'; patterns: string[] } | undefined {
  const negated = `Not${field}`;
  const [value, negatedValue] = [statement[field], statement[negated]];
  if (value !== undefined && negatedValue !== undefined)
    refuse(`${path}.${negated}`, negatedValue, `excludes ${field}`);
  if (value !== undefined) return { kind: 'only', patterns: textList(value, `${path}.${field}`) };
  if (negatedValue !== undefined) return { kind: 'all-but', patterns: textList(negatedValue, `${path}.${negated}`) };
  return undefined;
}

function parseActions(statement: PolicyObject, path: string): PolicyStatement['actions'] {
  const actions = oneOf(statement, 'Action', path);
  if (actions === undefined)
    return refuse(`${path}.Action`, undefined, 'is missing: a statement needs an Action or NotAction');
  for (const pattern of actions.patterns) {
    if (!/^(\*|(s3|admin|kms|sts):[a-z0-9*?]+)$/i.test(pattern)) {
      refuse(`${path}.Action`, pattern, 'must be "*" or an action of s3, admin, kms or sts such as "s3:GetObject"');
    }
  }
  return actions;
}

const knownArns = [s3Arn, kmsArn];

function parseResources(statement: PolicyObject, path: string): PolicyStatement['resources'] {
  const resources = oneOf(statement, 'Resource', path);
  for (const pattern of resources?.patterns ?? []) {
    const prefix = knownArns.find((known) => pattern.startsWith(known));
    if ((pattern.startsWith('arn:') && prefix === undefined) || pattern === prefix) {
      refuse(`${path}.Resource`, pattern, 'must be "*", or like "arn:aws:s3:::bucket/key" or "arn:minio:kms:::key"');
    }
    if (pattern.length > 2_048) refuse(`${path}.Resource`, pattern, 'is longer than 2048 characters');
    checkVariables(pattern, `${path}.Resource`);
  }
  return resources;
}

/**
 * MinIO's statements on admin, kms and sts actions do without, and so does `*`: there it means everything, as an author who names no
 * resource says.
 */
function needsResource(actions: PolicyStatement['actions']): boolean {
  return actions.kind === 'all-but' || actions.patterns.some((pattern) => /^s3:/i.test(pattern));
}
