import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { builtInPolicies } from './built-in-policies.ts';
import { parseBucketPolicy, parsePolicyDocument } from './parse-policy.ts';
import { serializePolicy } from './document.ts';
import { statements } from '../../test/support/policy/policy-arbitraries.ts';

const textOf = (name: string) => {
  const document = builtInPolicies.get(name);
  return document === undefined ? '' : serializePolicy(document);
};

describe('a document as JSON', () => {
  it('has the names and the order of the documentation', () => {
    const document = parsePolicyDocument({
      Version: '2012-10-17',
      Id: 'mine',
      Statement: {
        Condition: { stringlike: { 's3:prefix': 'home/*', 's3:delimiter': '/' }, null: { 'aws:SourceIp': true } },
        NotResource: 'b/*',
        NotAction: ['s3:Get*'],
        Effect: 'Deny',
        Sid: 'One',
      },
    });
    expect(serializePolicy(document)).toBe(
      '{"Id":"mine","Version":"2012-10-17","Statement":[{"Sid":"One","Effect":"Deny","NotAction":["s3:Get*"],"NotResource":["b/*"],' +
        '"Condition":{"StringLike":{"s3:prefix":["home/*"],"s3:delimiter":["/"]},"Null":{"aws:SourceIp":["true"]}}}]}',
    );
  });

  it('keeps whom a bucket policy is about', () => {
    const written = { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::b/*' };
    const document = parseBucketPolicy({ Statement: [written] }, 'b');
    expect(parseBucketPolicy(serializePolicy(document), 'b')).toEqual(document);
  });

  it('is read back as what it was', () => {
    fc.assert(
      fc.property(statements(), (Statement) => {
        const document = parsePolicyDocument({ Statement });
        expect(parsePolicyDocument(serializePolicy(document))).toEqual(document);
      }),
    );
  });
});

describe('the built-in policies', () => {
  // As a MinIO of 2025 answers `mc --json admin policy info`.
  it.each([
    ['readonly', [{ Effect: 'Allow', Action: ['s3:GetBucketLocation', 's3:GetObject'], Resource: ['arn:aws:s3:::*'] }]],
    ['readwrite', [{ Effect: 'Allow', Action: ['s3:*'], Resource: ['arn:aws:s3:::*'] }]],
    ['writeonly', [{ Effect: 'Allow', Action: ['s3:PutObject'], Resource: ['arn:aws:s3:::*'] }]],
    [
      'consoleAdmin',
      [
        { Effect: 'Allow', Action: ['admin:*'] },
        { Effect: 'Allow', Action: ['kms:*'] },
        { Effect: 'Allow', Action: ['s3:*'], Resource: ['arn:aws:s3:::*'] },
      ],
    ],
  ])('%s is as documented', (name, Statement) => {
    expect(JSON.parse(textOf(name))).toEqual({ Version: '2012-10-17', Statement });
  });

  it('diagnostics has the eight actions of MinIO', () => {
    const { Statement } = JSON.parse(textOf('diagnostics')) as {
      Statement: { Action: string[] }[];
    };
    expect(Statement[0]?.Action.toSorted()).toEqual([
      'admin:BandwidthMonitor',
      'admin:ConsoleLog',
      'admin:OBDInfo',
      'admin:Profiling',
      'admin:Prometheus',
      'admin:ServerInfo',
      'admin:ServerTrace',
      'admin:TopLocksInfo',
    ]);
  });

  it.each([...builtInPolicies.keys()])('%s is read back as what it was', (name) => {
    expect(parsePolicyDocument(textOf(name))).toEqual(builtInPolicies.get(name));
  });
});
