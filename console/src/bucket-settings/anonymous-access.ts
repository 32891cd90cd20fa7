/** The simple choices for people without an account. `other`: a policy that these choices do not describe. */
export type AnonymousAccess = 'none' | 'download' | 'upload' | 'public' | 'other';

const bucketRead = ['s3:GetBucketLocation', 's3:ListBucket'];
const uploads = ['s3:ListBucketMultipartUploads'];
const objectRead = ['s3:GetObject'];
const objectWrite = ['s3:AbortMultipartUpload', 's3:DeleteObject', 's3:ListMultipartUploadParts', 's3:PutObject'];

const rights = {
  download: [bucketRead, objectRead],
  upload: [['s3:GetBucketLocation', ...uploads], objectWrite],
  public: [
    [...bucketRead, ...uploads],
    [...objectRead, ...objectWrite],
  ],
} as const;

/** The ID of the statements that this page writes, so that it changes no other ones. */
const sid = /^CofferAnonymous/;

interface Statement {
  readonly Sid?: string;
  readonly [field: string]: unknown;
}

/** A policy as it was written, with the elements that this page does not know. */
interface Policy {
  readonly Statement?: Statement | readonly Statement[];
  readonly [field: string]: unknown;
}

/**
 * Returns the policy with the choice. Everything else stays as it was written: the `Id`, the other statements, and the `Version`, which
 * decides whether a variable in them is one. Undefined: no statement is left. The policy itself where it has the choice already.
 */
export function withAnonymousAccess(
  policy: string | undefined,
  bucket: string,
  choice: Exclude<AnonymousAccess, 'other'>,
): string | undefined {
  if (anonymousAccess(policy, bucket) === choice) return policy;
  const before = policyOf(policy);
  const kept = statementsOf(before).filter((statement) => !sid.test(statement.Sid ?? ''));
  const statements = [...kept, ...(choice === 'none' ? [] : anonymousStatements(bucket, choice))];
  if (statements.length === 0) return undefined;
  // The statements of this page have no variable: they mean the same in each version.
  return JSON.stringify({ ...(before ?? { Version: '2012-10-17' }), Statement: statements }, null, 2);
}

function anonymousStatements(bucket: string, choice: 'download' | 'upload' | 'public'): readonly Statement[] {
  const [onBucket, onObjects] = rights[choice];
  const common = { Effect: 'Allow', Principal: { AWS: ['*'] } };
  return [
    { Sid: 'CofferAnonymousBucket', ...common, Action: onBucket, Resource: [`arn:aws:s3:::${bucket}`] },
    { Sid: 'CofferAnonymousObjects', ...common, Action: onObjects, Resource: [`arn:aws:s3:::${bucket}/*`] },
  ];
}

/** Finds out which choice a policy has. Statements for everybody that this page did not write are `other`. */
export function anonymousAccess(policy: string | undefined, bucket: string): AnonymousAccess {
  const statements = statementsOf(policyOf(policy));
  if (statements.some((one) => !sid.test(one.Sid ?? '') && isForEverybody(one))) return 'other';
  const own = JSON.stringify(statements.filter((one) => sid.test(one.Sid ?? '')));
  if (own === '[]') return 'none';
  const choices = ['download', 'upload', 'public'] as const;
  return choices.find((choice) => JSON.stringify(anonymousStatements(bucket, choice)) === own) ?? 'other';
}

function isForEverybody({ Effect, Principal }: Statement): boolean {
  return Effect === 'Allow' && /"\*"/.test(JSON.stringify(Principal ?? ''));
}

function policyOf(policy: string | undefined): Policy | undefined {
  return policy === undefined || policy.trim() === '' ? undefined : (JSON.parse(policy) as Policy);
}

function statementsOf(policy: Policy | undefined): readonly Statement[] {
  return policy?.Statement === undefined ? [] : [policy.Statement].flat();
}
