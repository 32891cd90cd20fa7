// `npm run bench:policy` measures the decisions per second of one core with 50 attached statements of usual kinds: literal actions,
// wildcards, variables, conditions. It fails below the limit. Compare the processor time: other work on the machine affects the clock.
import { decide, type DecisionInput } from '../protocol/policy/decide.ts';
import { explain } from '../protocol/policy/explain.ts';
import type { NamedPolicy } from '../protocol/policy/evaluate.ts';
import { parseBucketPolicy, parsePolicyDocument } from '../protocol/policy/parse-policy.ts';
import { median } from './statistics.ts';

const limit = 20_000;
const rounds = 5;
const roundMs = 1_000;

function statementOf(index: number): Record<string, unknown> {
  const bucket = `arn:aws:s3:::bucket-${index}`;
  const kinds: readonly Record<string, unknown>[] = [
    { Effect: 'Allow', Action: ['s3:GetObject', 's3:PutObject'], Resource: [`${bucket}/*`] },
    { Effect: 'Allow', Action: ['s3:Get*', 's3:List*'], Resource: [bucket, `${bucket}/team-*/reports/*`] },
    { Effect: 'Allow', Action: 's3:*', Resource: `${bucket}/home/\${aws:username}/*` },
    {
      Effect: 'Allow',
      Action: 's3:*',
      Resource: '*',
      Condition: {
        StringLike: { 's3:prefix': [`area-${index}/*`, 'home/${aws:username}/*'] },
        Bool: { 'aws:SecureTransport': 'true' },
      },
    },
    {
      Effect: 'Deny',
      Action: 's3:*',
      Resource: `arn:aws:s3:::*`,
      Condition: {
        NotIpAddress: { 'aws:SourceIp': ['10.0.0.0/8', '2001:db8::/32', '192.168.0.0/16'] },
        DateGreaterThan: { 'aws:CurrentTime': '2020-01-01T00:00:00Z' },
      },
    },
  ];
  return kinds[index % kinds.length] ?? {};
}

/** Ten policies of five statements. */
const identity: readonly NamedPolicy[] = Array.from({ length: 10 }, (_, policy) => ({
  name: `policy-${policy}`,
  document: parsePolicyDocument({
    Version: '2012-10-17',
    Statement: Array.from({ length: 5 }, (_unused, index) => statementOf(policy * 5 + index)),
  }),
}));

const bucket: NamedPolicy = {
  name: 'bucket bucket-99',
  document: parseBucketPolicy(
    {
      Statement: [
        {
          Effect: 'Allow',
          Principal: { AWS: ['ann'] },
          Action: 's3:GetObject',
          Resource: 'arn:aws:s3:::bucket-99/public/*',
        },
      ],
    },
    'bucket-99',
  ),
};

const session: NamedPolicy = {
  name: 'session policy',
  document: parsePolicyDocument({
    Statement: [{ Effect: 'Allow', Action: 's3:*', Resource: 'arn:aws:s3:::bucket-*' }],
  }),
};

/** Each decision gets a new context, as each request does. */
function input(action: string, resource: string, boundaries: readonly NamedPolicy[] = []): DecisionInput {
  return {
    identity,
    bucket,
    boundaries,
    request: {
      action,
      resource,
      context: {
        'aws:SourceIp': ['10.1.2.3'],
        'aws:SecureTransport': ['true'],
        'aws:CurrentTime': ['2026-11-21T20:40:00.000Z'],
        'aws:EpochTime': ['1795293600'],
        'aws:UserAgent': ['MinIO (linux; amd64) minio-go/v7.0.90 mc/RELEASE.2025-08-13T08-35-41Z'],
        's3:prefix': ['somewhere/else/'],
        's3:x-amz-content-sha256': ['UNSIGNED-PAYLOAD'],
        's3:x-amz-date': ['20261121T204000Z'],
      },
      variables: { 'aws:username': 'ann', 'aws:userid': 'ann', 'jwt:preferred_username': 'ann' },
      principals: ['ann', 'AKIAIOSFODNN7EXAMPLE'],
    },
  };
}

const cases: readonly (readonly [string, () => unknown])[] = [
  ['allowed by the first statement', () => decide(input('s3:GetObject', 'bucket-0/a/b.txt'))],
  ['allowed by the last but one', () => decide(input('s3:ListBucket', 'bucket-46'))],
  ['allowed by a variable', () => decide(input('s3:GetObject', 'bucket-47/home/ann/x'))],
  ['allowed, with a session policy', () => decide(input('s3:GetObject', 'bucket-47/home/ann/x', [session]))],
  ['refused by silence', () => decide(input('s3:DeleteObject', 'bucket-99/a/b.txt'))],
];

/** Returns decisions per second of processor time. */
function measure(run: () => unknown, milliseconds: number): number {
  let count = 0;
  const started = process.cpuUsage();
  const until = performance.now() + milliseconds;
  do {
    for (let at = 0; at < 100; at += 1) run();
    count += 100;
  } while (performance.now() < until);
  return count / (process.cpuUsage(started).user / 1e6);
}

let slowest = Number.POSITIVE_INFINITY;
for (const [, run] of cases) measure(run, roundMs / 4);
for (const [name, run] of cases) {
  const speed = median(Array.from({ length: rounds }, () => measure(run, roundMs)));
  slowest = Math.min(slowest, speed);
  console.log(`${name.padEnd(34)} ${Math.round(speed).toLocaleString('en-GB').padStart(10)} decisions/s`);
}
const explained = measure(() => explain(input('s3:DeleteObject', 'bucket-99/a/b.txt')), roundMs);
console.log(`${'explained'.padEnd(34)} ${Math.round(explained).toLocaleString('en-GB').padStart(10)} explanations/s`);
console.log(`50 statements, one core; the limit is ${limit.toLocaleString('en-GB')} decisions/s`);
if (slowest < limit) {
  console.error(`too slow: ${Math.round(slowest)} decisions/s`);
  process.exitCode = 1;
}
