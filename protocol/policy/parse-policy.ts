import { matches, parsePattern } from './glob.ts';
import { S3Error } from '../s3/s3-error.ts';
import { checkPolicyNames } from './check-policy-names.ts';
import type { PolicyDocument, PolicyStatement } from './document.ts';
import { duplicateKey } from './duplicate-keys.ts';
import {
  parseStatement,
  type ParsePrincipals,
  onlyFields,
  optionalText,
  readObject,
  refuse,
  type PolicyObject,
  textList,
} from './parse-statement.ts';
import { patternOfService, principalError, servicePrincipals } from './arns.ts';

const versions = ['2012-10-17', '2008-10-17'] as const;

export interface PolicyParsing {
  /** 20 KiB by default. */
  readonly maxBytes?: number;
  /** 500 by default. */
  readonly maxStatements?: number;
  /** The maximum number of `*` and `?` of all patterns together, 1,000 by default. Each costs time in each request. */
  readonly maxWildcards?: number;
  /** Reads the principals of a statement. Without it a statement may not have any. */
  readonly parsePrincipals?: ParsePrincipals;
}

/**
 * Reads a policy document strictly. It refuses everything that it does not understand, because a statement that means less, or more, than
 * its author wants is worse than none.
 *
 * @example
 *     const statement = { Sid: 'All', Effect: 'Allow', Action: 's3:*', Resource: '*' };
 *     parsePolicyDocument({ Version: '2012-10-17', Statement: [statement] }).statements[0].sid; // 'All'
 */
export function parsePolicyDocument(json: unknown, options: PolicyParsing = {}): PolicyDocument {
  const { maxBytes = 20_480 } = options;
  const text = typeof json === 'string' ? json : jsonOf(json);
  const bytes = Buffer.byteLength(text, 'utf8');
  if (bytes > maxBytes) {
    throw new S3Error('MalformedPolicy', `The policy document has ${bytes} bytes; at most ${maxBytes} are allowed.`);
  }
  const document = readObject(parseJson(text), 'the policy document');
  onlyFields(document, ['Version', 'Id', 'ID', 'Statement'], 'the policy document');
  const id = optionalText(document, 'Id', 'Id') ?? optionalText(document, 'ID', 'ID');
  const statements = parseStatements(document['Statement'], options);
  checkWildcards(statements, options.maxWildcards ?? 1_000);
  return { version: parseVersion(document['Version']), ...(id === undefined ? {} : { id }), statements };
}

/**
 * Reads a new document. It must not name anything that does not exist, and must not deny by a condition that this server cannot evaluate.
 *
 * @throws S3Error `MalformedPolicy` that names the offending field and its value
 */
export function parseNewPolicy(json: unknown, options: PolicyParsing = {}): PolicyDocument {
  const document = parsePolicyDocument(json, options);
  checkPolicyNames(document);
  return document;
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch (error) {
    throw notJson(error);
  }
}

function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw notJson(error);
  }
  const twice = duplicateKey(text);
  if (twice !== undefined) refuse('the name', twice, 'stands twice in one object');
  return value;
}

function notJson(error: unknown): S3Error {
  const why = error instanceof Error ? error.message.slice(0, 200) : 'not JSON';
  return new S3Error('MalformedPolicy', `The policy document is not valid JSON: ${why}.`);
}

function parseVersion(value: unknown): PolicyDocument['version'] {
  // MinIO's own policies may omit it, and use variables all the same.
  if (value === undefined || value === '') return '2012-10-17';
  return versions.find((known) => known === value) ?? refuse('Version', value, `must be "${versions.join('" or "')}"`);
}

function parseStatements(value: unknown, options: PolicyParsing): PolicyDocument['statements'] {
  if (value === undefined) throw new S3Error('MalformedPolicy', 'The policy document has no Statement.');
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  const { maxStatements = 500 } = options;
  if (list.length === 0) refuse('Statement', value, 'must hold at least one statement');
  if (list.length > maxStatements)
    refuse('Statement', list.length, `are too many: at most ${maxStatements} are allowed`);
  const statements = list.map((statement, index) =>
    parseStatement(statement, `Statement[${index}]`, options.parsePrincipals),
  );
  const sids = statements.flatMap(({ sid }) => (sid === undefined ? [] : [sid]));
  const repeated = sids.find((sid, index) => sids.indexOf(sid) !== index);
  if (repeated !== undefined) refuse('Sid', repeated, 'is given to more than one statement');
  return statements;
}

function checkWildcards(statements: PolicyDocument['statements'], max: number): void {
  let count = 0;
  for (const { actions, resources, conditions } of statements) {
    const values = conditions
      .filter(({ operator }) => /Like|Arn/.test(operator))
      .flatMap((condition) => condition.values);
    for (const text of [...actions.patterns, ...(resources?.patterns ?? []), ...values]) {
      for (const character of text) if (character === '*' || character === '?') count += 1;
    }
  }
  if (count > max) refuse('Statement', count, `wildcards are too many: at most ${max} are allowed`);
}

const arn = 'arn:aws:s3:::';

/**
 * Reads the policy of a bucket. Each statement names its principals, and only this bucket and its objects.
 *
 * @throws S3Error `MalformedPolicy` that names the offending field and its value
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-policies.html
 */
export function parseBucketPolicy(json: unknown, bucket: string): PolicyDocument {
  const document = parsePolicyDocument(json, { parsePrincipals });
  for (const [index, statement] of document.statements.entries())
    checkStatement(statement, `Statement[${index}]`, bucket);
  return document;
}

/** Reads the new policy of a bucket, with the checks of `parseNewPolicy`. */
export function parseNewBucketPolicy(json: unknown, bucket: string): PolicyDocument {
  const document = parseBucketPolicy(json, bucket);
  checkPolicyNames(document);
  return document;
}

function parsePrincipals(statement: PolicyObject, path: string): readonly string[] {
  if ('NotPrincipal' in statement) {
    refuse(`${path}.NotPrincipal`, statement['NotPrincipal'], 'is not supported: name who is meant by Principal');
  }
  const value = statement['Principal'];
  if (value === undefined)
    refuse(`${path}.Principal`, undefined, 'is missing: name whom the statement is about, or "*"');
  if (value === '*') return ['*'];
  if (typeof value === 'string') refuse(`${path}.Principal`, value, 'must be "*" or like {"AWS": ["name"]}');
  const object = readObject(value, `${path}.Principal`);
  onlyFields(object, ['AWS', 'Service'], `${path}.Principal`);
  const services = object['Service'] === undefined ? [] : parseServices(object['Service'], `${path}.Principal.Service`);
  if (object['AWS'] === undefined && services.length > 0) return services;
  const patterns = textList(object['AWS'], `${path}.Principal.AWS`);
  for (const pattern of patterns) {
    const issue = principalError(pattern);
    if (issue !== undefined) refuse(`${path}.Principal.AWS`, pattern, issue);
  }
  return [...patterns, ...services];
}

function parseServices(value: unknown, path: string): readonly string[] {
  const names = textList(value, path);
  const unknown = names.find((name) => !servicePrincipals.some((known) => known === name));
  if (unknown !== undefined) {
    refuse(path, unknown, `is no service that writes into buckets here: those are ${servicePrincipals.join(' and ')}`);
  }
  return names.map(patternOfService);
}

/** Reports if a pattern names the bucket or objects of it. One document may serve several buckets, as with MinIO: `arn:aws:s3:::*`. */
function coversBucket(pattern: string, bucket: string): boolean {
  const [name = ''] = pattern.split('/', 1);
  return name === bucket || (!name.includes('$') && matches(parsePattern(name), bucket));
}

function checkStatement({ actions, resources }: PolicyStatement, path: string, bucket: string): void {
  for (const pattern of actions.patterns) {
    if (!/^(\*$|s3:)/i.test(pattern)) refuse(`${path}.Action`, pattern, 'is no action on a bucket or its objects');
  }
  if (resources === undefined)
    refuse(`${path}.Resource`, undefined, `is missing: write "${arn}${bucket}/*" for the objects`);
  for (const pattern of resources.patterns) {
    const bare = pattern.startsWith(arn) ? pattern.slice(arn.length) : undefined;
    if (bare === undefined || !coversBucket(bare, bucket)) {
      refuse(`${path}.Resource`, pattern, `is not of this bucket: write "${arn}${bucket}" or "${arn}${bucket}/*"`);
    }
  }
}
