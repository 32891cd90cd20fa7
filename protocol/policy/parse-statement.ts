import { S3Error } from '../s3/s3-error.ts';
import { comparerOf } from './comparisons.ts';
import {
  conditionOperatorNames,
  operatorName,
  parseConditionOperator,
  type ConditionOperator,
} from './condition-operators.ts';
import type { PolicyCondition, PolicyStatement } from './document.ts';
import { kmsArn, s3Arn } from './arns.ts';

export type PolicyObject = Readonly<Record<string, unknown>>;

/**
 * Throws the error for a value of the document, with the path of its field, e.g. `Statement[0].Effect "Permit" must be "Allow" or "Deny"`.
 */
export function refuse(path: string, value: unknown, issue: string): never {
  const where = path.length > 256 ? `${path.slice(0, 256)}…` : path;
  throw new S3Error('MalformedPolicy', `The policy document is not valid: ${where} ${shown(value)} ${issue}.`);
}

function shown(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? 'nothing').slice(0, 128);
  } catch {
    // Lists can nest deeper than the stack.
    return 'nested too deep to be shown';
  }
}

export function readObject(value: unknown, path: string): PolicyObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as PolicyObject;
  return refuse(path, value, 'must be an object');
}

export function onlyFields(object: PolicyObject, known: readonly string[], path: string): void {
  const unknown = Object.keys(object).find((field) => !known.includes(field));
  if (unknown !== undefined) refuse(path, unknown, `is no field that may stand here (${known.join(', ')})`);
}

export function optionalText(object: PolicyObject, field: string, path: string): string | undefined {
  const value = object[field];
  if (value === undefined || typeof value === 'string') return value || undefined;
  return refuse(path, value, 'must be a string');
}

/** Reads one string or a list of at least one. */
export function textList(value: unknown, path: string): string[] {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length === 0) refuse(path, value, 'must not be empty');
  return list.map((one) =>
    typeof one === 'string' && one !== '' ? one : refuse(path, one, 'must be a string that is not empty'),
  );
}

/** Refuses a `${` without an end. It would be literal and match nothing, which its author cannot want. */
function checkVariables(text: string, path: string): void {
  const rest = text.replaceAll(/\$\{([*?$]|[^${}*?,']+(,\s*'[^'{}]*'\s*)?)\}/g, '');
  if (rest.includes('${'))
    refuse(path, text, "holds a policy variable that is not of the form ${name} or ${name, 'default'}");
}

/** Reads the Condition of a statement: operators, each with keys, each with values of the operator's kind. */
function parseConditions(value: unknown, path: string): PolicyCondition[] {
  if (value === undefined) return [];
  const conditions = Object.entries(readObject(value, path)).flatMap(([written, keys]) => {
    const operator = parseConditionOperator(written);
    if (operator === undefined) {
      const known = conditionOperatorNames.join(', ');
      return refuse(
        path,
        written,
        `is no condition operator; ${known} are, all but Null also after ForAllValues: or ForAnyValue: and before IfExists`,
      );
    }
    const entries = Object.entries(readObject(keys, `${path}.${written}`));
    if (entries.length === 0) refuse(`${path}.${written}`, keys, 'must name a condition key');
    return entries.map(([key, values]) => parseCondition(operator, key, values, `${path}.${written}.${key}`));
  });
  refuseRepetition(conditions, path);
  return conditions;
}

/** Refuses `StringLike` next to `stringlike`: names do not depend on case, and JSON allows both. */
function refuseRepetition(conditions: readonly PolicyCondition[], path: string): void {
  const seen = new Set<string>();
  for (const { operator, key } of conditions) {
    const name = `${operator} ${key.toLowerCase()}`;
    if (seen.has(name)) refuse(path, `${operator} ${key}`, 'is written twice: put its values into one list');
    seen.add(name);
  }
}

/** After a slash there is the name of a tag, which may have spaces and letters of any language. */
const conditionKey = /^[A-Za-z0-9]+:(?:[!-~]+|[A-Za-z]+\/[\p{L}\p{N}\p{Z}!-~]+)$/u;

function parseCondition(operator: ConditionOperator, key: string, value: unknown, path: string): PolicyCondition {
  if (!conditionKey.test(key)) refuse(path, key, 'is no condition key such as "s3:prefix" or "aws:username"');
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length === 0) refuse(path, value, 'must hold at least one value');
  const values = list.map((one) => parseValue(operator, one, path));
  return { operator: operatorName(operator), key, values };
}

function parseValue(operator: ConditionOperator, value: unknown, path: string): string {
  // An author may write booleans and numbers without quotes.
  const isText = typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number';
  const text = isText ? String(value) : refuse(path, value, 'must be a string');
  if (operator.kind === 'null') {
    return /^(true|false)$/i.test(text) ? text : refuse(path, text, 'must be "true" or "false"');
  }
  checkVariables(text, path);
  const issue = comparerOf(operator, text, true);
  return typeof issue === 'string' ? refuse(path, text, issue) : text;
}

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

/** Reads a statement. `path` is its position for messages: `Statement[0]`. */
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

/** Reads exactly one of a field and its negation. */
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
 * Reports whether the statement needs a resource. MinIO's statements on admin, kms and sts actions have none. `*` needs none either, and
 * then means every resource.
 */
function needsResource(actions: PolicyStatement['actions']): boolean {
  return actions.kind === 'all-but' || actions.patterns.some((pattern) => /^s3:/i.test(pattern));
}
