import { checkPolicyNames } from './check-policy-names.ts';
import type { PolicyDocument, PolicyStatement } from './document.ts';
import { parsePolicyDocument } from './parse-policy.ts';
import { refuse } from './policy-fields.ts';
import type { PolicyObject } from './policy-fields.ts';
import { textList, readObject, onlyFields } from './policy-fields.ts';
import { principalProblem } from './principals.ts';

const arn = 'arn:aws:s3:::';

/**
 * Reads the policy of a bucket: each statement names who it is about, and speaks of this bucket and its objects alone.
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

/** Reads the policy of a bucket that is new: as `parseNewPolicy`. */
export function parseNewBucketPolicy(json: unknown, bucket: string): PolicyDocument {
  const document = parseBucketPolicy(json, bucket);
  checkPolicyNames(document);
  return document;
}

/** Whether some statement opens the bucket, or what is in it, to everyone without a condition. */
export function isPublic(policy: PolicyDocument): boolean {
  return policy.statements.some(
    ({ effect, principals, conditions }) =>
      effect === 'Allow' && conditions.length === 0 && principals?.includes('*') === true,
  );
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
  onlyFields(object, ['AWS'], `${path}.Principal`);
  const patterns = textList(object['AWS'], `${path}.Principal.AWS`);
  for (const pattern of patterns) {
    const problem = principalProblem(pattern);
    if (problem !== undefined) refuse(`${path}.Principal.AWS`, pattern, problem);
  }
  return patterns;
}

function checkStatement({ actions, resources }: PolicyStatement, path: string, bucket: string): void {
  for (const pattern of actions.patterns) {
    if (!/^(\*$|s3:)/i.test(pattern)) refuse(`${path}.Action`, pattern, 'is no action on a bucket or its objects');
  }
  if (resources === undefined)
    refuse(`${path}.Resource`, undefined, `is missing: write "${arn}${bucket}/*" for the objects`);
  for (const pattern of resources.patterns) {
    const bare = pattern.startsWith(arn) ? pattern.slice(arn.length) : undefined;
    if (bare !== bucket && bare?.startsWith(`${bucket}/`) !== true) {
      refuse(`${path}.Resource`, pattern, `is not of this bucket: write "${arn}${bucket}" or "${arn}${bucket}/*"`);
    }
  }
}
