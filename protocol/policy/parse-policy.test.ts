import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../s3/s3-error.ts';
import { parsePolicyDocument } from './parse-policy.ts';

const statement = { Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::b/*' };

function withStatement(changed: Record<string, unknown>): unknown {
  return { Version: '2012-10-17', Statement: [{ ...statement, ...changed }] };
}

function issue(document: unknown, limits?: { maxBytes: number }): string {
  try {
    parsePolicyDocument(document, limits);
    return 'none';
  } catch (error) {
    if (error instanceof S3Error && error.code === 'MalformedPolicy') return error.message;
    throw error;
  }
}

describe('a good document', () => {
  it('becomes lists', () => {
    expect(
      parsePolicyDocument({
        Version: '2012-10-17',
        Id: 'mine',
        Statement: {
          Sid: 'Read',
          Effect: 'Deny',
          NotAction: ['s3:GetObject', 'S3:list*'],
          NotResource: 'b/*',
          Condition: { stringlike: { 's3:prefix': 'home/${aws:username}/*' }, Null: { 'aws:SourceIp': true } },
        },
      }),
    ).toEqual({
      version: '2012-10-17',
      id: 'mine',
      statements: [
        {
          sid: 'Read',
          effect: 'Deny',
          actions: { kind: 'all-but', patterns: ['s3:GetObject', 'S3:list*'] },
          resources: { kind: 'all-but', patterns: ['b/*'] },
          conditions: [
            { operator: 'StringLike', key: 's3:prefix', values: ['home/${aws:username}/*'] },
            { operator: 'Null', key: 'aws:SourceIp', values: ['true'] },
          ],
        },
      ],
    });
  });

  it('may be text', () => {
    expect(parsePolicyDocument(JSON.stringify(withStatement({}))).statements).toHaveLength(1);
  });

  it('may leave out the version, as MinIO lets it', () => {
    expect(parsePolicyDocument({ Statement: [statement] }).version).toBe('2012-10-17');
  });

  it('may leave out the resource of admin actions', () => {
    const admin = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: ['admin:*'] }] };
    expect(parsePolicyDocument(admin).statements[0]?.resources).toBeUndefined();
  });
});

describe('a bad document is refused by the name of its field and the value', () => {
  it.each<[string, unknown]>([
    ['not valid JSON', '{'],
    ['the policy document [] must be an object', '[]'],
    ['Version "2020-01-01" must be', { Version: '2020-01-01', Statement: [statement] }],
    ['has no Statement', { Version: '2012-10-17' }],
    ['Statement [] must hold', { Version: '2012-10-17', Statement: [] }],
    ['the policy document "Extra" is no field', { Version: '2012-10-17', Statement: [statement], Extra: 1 }],
    ['Statement[0] "Efect" is no field', withStatement({ Efect: 'Allow' })],
    ['Statement[0].Effect "Permit" must be "Allow" or "Deny"', withStatement({ Effect: 'Permit' })],
    ['Statement[0].Action nothing is missing', { Statement: [{ Effect: 'Allow', Resource: '*' }] }],
    ['Statement[0].Action "s3.GetObject" must be', withStatement({ Action: 's3.GetObject' })],
    ['Statement[0].Action "ec2:*" must be', withStatement({ Action: ['s3:*', 'ec2:*'] })],
    ['Statement[0].Action 7 must be a string', withStatement({ Action: 7 })],
    ['Statement[0].Action [] must not be empty', withStatement({ Action: [] })],
    ['Statement[0].NotAction "s3:*" excludes Action', withStatement({ NotAction: 's3:*' })],
    ['Statement[0].Resource nothing is missing', withStatement({ Resource: undefined })],
    ['Statement[0].Resource "arn:aws:sns:::x" must be', withStatement({ Resource: 'arn:aws:sns:::x' })],
    ['Statement[0].Resource "arn:aws:s3:::" must be', withStatement({ Resource: 'arn:aws:s3:::' })],
    ['Statement[0].Resource "b/${x" holds a policy variable', withStatement({ Resource: 'b/${x' })],
    ['Statement[0].NotResource "*" excludes Resource', withStatement({ NotResource: '*' })],
    ['Statement[0].Principal "*" is not allowed', withStatement({ Principal: '*' })],
    ['Statement[0].Condition "DateLike" is no condition operator', withStatement({ Condition: { DateLike: {} } })],
    ['Statement[0].Condition "NullIfExists"', withStatement({ Condition: { NullIfExists: { 'a:b': 'true' } } })],
    ['Statement[0].Condition.Null.s3:prefix "maybe"', withStatement({ Condition: { Null: { 's3:prefix': 'maybe' } } })],
    ['"prefix" is no condition key', withStatement({ Condition: { StringLike: { prefix: 'a' } } })],
    ['must hold at least one value', withStatement({ Condition: { StringLike: { 's3:prefix': [] } } })],
    ['must name a condition key', withStatement({ Condition: { StringLike: {} } })],
    [
      'Sid "a" is given to more than one',
      {
        Statement: [
          { ...statement, Sid: 'a' },
          { ...statement, Sid: 'a' },
        ],
      },
    ],
  ])('%s', (message, document) => {
    expect(issue(document)).toContain(message);
  });

  it('by its size', () => {
    expect(issue(withStatement({ Sid: 'a'.repeat(100) }), { maxBytes: 100 })).toContain('at most 100 are allowed');
  });

  it('and never otherwise', () => {
    const field = fc.constantFrom(
      'Version',
      'Statement',
      'Effect',
      'Action',
      'Resource',
      'Condition',
      'StringLike',
      'Null',
    );
    const anything = fc.object({ key: field, maxDepth: 5 });
    fc.assert(fc.property(anything, (document) => typeof issue(document) === 'string'));
    fc.assert(fc.property(fc.json(), (text) => typeof issue(text) === 'string'));
    fc.assert(fc.property(anything, (changed) => typeof issue(withStatement(changed)) === 'string'));
  });
});
