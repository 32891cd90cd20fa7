import * as fc from 'fast-check';
import { parseBucketPolicy } from '../../../protocol/policy/parse-policy.ts';

const principal = fc.constantFrom<unknown>(
  '*',
  { AWS: '*' },
  { AWS: ['*'] },
  { AWS: 'arn:aws:iam:::user/ann' },
  { AWS: ['arn:aws:iam:::user/ann', 'arn:aws:iam:::user/ben'] },
);
const actions = fc.constantFrom<unknown>('s3:GetObject', ['s3:GetObject', 's3:PutObject'], 's3:*', ['s3:List*']);
const resource = (bucket: string) =>
  fc.constantFrom<unknown>(
    `arn:aws:s3:::${bucket}/*`,
    [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`],
    // Literal in a policy of 2008, a variable in one of 2012.
    `arn:aws:s3:::${bucket}/\${aws:username}/*`,
  );
const condition = fc.constantFrom<unknown>(
  { StringLike: { 's3:prefix': ['a/*', '${aws:username}/*'] } },
  { Bool: { 'aws:SecureTransport': true } },
  { IpAddress: { 'aws:SourceIp': '10.0.0.0/8' }, Null: { 'aws:username': 'false' } },
);

function statement(bucket: string): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  return fc
    .record({
      sid: fc.option(fc.constantFrom('', 'a', 'b', 'Ünïcode', 'CofferAnonymousBucket', 'CofferAnonymousOther')),
      effect: fc.constantFrom('Allow', 'Allow', 'Deny'),
      principal,
      actions,
      notAction: fc.constantFrom(false, false, true),
      resources: resource(bucket),
      notResource: fc.constantFrom(false, false, true),
      condition: fc.option(condition),
    })
    .map((one) => ({
      ...(one.sid !== null && { Sid: one.sid }),
      Effect: one.effect,
      Principal: one.principal,
      [one.notAction ? 'NotAction' : 'Action']: one.actions,
      [one.notResource ? 'NotResource' : 'Resource']: one.resources,
      ...(one.condition !== null && { Condition: one.condition }),
    }));
}

/** Policies of a bucket that the server accepts, as texts: all elements, in both versions and without one, indented or not. */
export function bucketPolicies(bucket: string): fc.Arbitrary<string> {
  return fc
    .record({
      version: fc.constantFrom(undefined, '2012-10-17', '2008-10-17'),
      id: fc.constantFrom(undefined, ['Id', 'policy of 2008'], ['ID', 'minio']),
      statements: fc.array(statement(bucket), { minLength: 1, maxLength: 4 }),
      alone: fc.boolean(),
      indent: fc.constantFrom(undefined, 2, '\t'),
      idFirst: fc.boolean(),
    })
    .map(({ version, id, statements, alone, indent, idFirst }) => {
      const ofId = id === undefined ? {} : { [id[0]]: id[1] };
      const document = {
        ...(idFirst && ofId),
        ...(version !== undefined && { Version: version }),
        Statement: alone && statements.length === 1 ? statements[0] : statements,
        ...(!idFirst && ofId),
      };
      return JSON.stringify(document, null, indent);
    })
    .filter((text) => isAccepted(text, bucket));
}

function isAccepted(text: string, bucket: string): boolean {
  try {
    parseBucketPolicy(text, bucket);
    return true;
  } catch {
    return false;
  }
}
