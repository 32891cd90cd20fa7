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

/** Returns the policy with the choice. The other statements stay. Undefined: no statement is left. */
export function withAnonymousAccess(
  policy: string | undefined,
  bucket: string,
  choice: Exclude<AnonymousAccess, 'other'>,
): string | undefined {
  const kept = statementsOf(policy).filter((statement) => !sid.test(statement.Sid ?? ''));
  const statements = [...kept, ...(choice === 'none' ? [] : anonymousStatements(bucket, choice))];
  if (statements.length === 0) return undefined;
  return JSON.stringify({ Version: '2012-10-17', Statement: statements }, null, 2);
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
  const statements = statementsOf(policy);
  if (statements.some((one) => !sid.test(one.Sid ?? '') && isForEverybody(one))) return 'other';
  const own = JSON.stringify(statements.filter((one) => sid.test(one.Sid ?? '')));
  if (own === '[]') return 'none';
  const choices = ['download', 'upload', 'public'] as const;
  return choices.find((choice) => JSON.stringify(anonymousStatements(bucket, choice)) === own) ?? 'other';
}

function isForEverybody({ Effect, Principal }: Statement): boolean {
  return Effect === 'Allow' && /"\*"/.test(JSON.stringify(Principal ?? ''));
}

function statementsOf(policy: string | undefined): readonly Statement[] {
  if (policy === undefined || policy.trim() === '') return [];
  const { Statement: statements } = JSON.parse(policy) as { Statement?: Statement | readonly Statement[] };
  return statements === undefined ? [] : [statements].flat();
}
