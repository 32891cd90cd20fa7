import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluate, type Evaluation } from './evaluate.ts';
import { type PolicyRequest } from './policy-request.ts';
import { builtInPolicies } from './built-in-policies.ts';
import { parsePolicyDocument } from './parse-policy.ts';

interface Statement {
  Effect: string;
  Sid?: string;
  Action?: string | string[];
  NotAction?: string | string[];
  Resource?: string | string[];
  NotResource?: string | string[];
  Condition?: Record<string, Record<string, unknown>>;
}

function decide(statements: Statement[], request: Partial<PolicyRequest>, version = '2012-10-17'): Evaluation {
  const document = parsePolicyDocument({ Version: version, Statement: statements });
  return evaluate([{ name: 'p', document }], {
    action: 's3:GetObject',
    resource: 'b/k',
    context: {},
    variables: {},
    ...request,
  });
}

const everything: Statement = { Effect: 'Allow', Action: 's3:*', Resource: '*' };

describe('the decision', () => {
  it('is none where no policy speaks', () => {
    expect(evaluate([], { action: 's3:GetObject', resource: 'b/k', context: {}, variables: {} }).effect).toBe('none');
  });

  it('is the statement that allows, and says which', () => {
    const decided = decide([{ ...everything, Action: 's3:PutObject' }, everything], {});
    expect(decided).toMatchObject({ effect: 'allow', policy: 'p', statement: '#2' });
    expect(decided.reason).toBe('statement #2 of policy "p" allows s3:GetObject on "b/k"');
  });

  it('is the one that denies, whatever its place', () => {
    const deny: Statement = { Effect: 'Deny', Sid: 'NoRead', Action: 's3:GetObject', Resource: '*' };
    for (const statements of [
      [everything, deny],
      [deny, everything],
    ]) {
      expect(decide(statements, {})).toMatchObject({ effect: 'deny', statement: 'NoRead' });
    }
  });

  it('counts a Deny of another policy', () => {
    const [allow, deny] = [everything, { ...everything, Effect: 'Deny' }].map((statement, index) => ({
      name: `p${index}`,
      document: parsePolicyDocument({ Statement: [statement] }),
    }));
    const request = { action: 's3:GetObject', resource: 'b/k', context: {}, variables: {} };
    expect(evaluate([allow!, deny!], request)).toMatchObject({ effect: 'deny', policy: 'p1' });
  });
});

describe('actions and resources', () => {
  it.each<[string, Statement, Partial<PolicyRequest>, string]>([
    ['actions without regard to case', { ...everything, Action: 'S3:getobject' }, {}, 'allow'],
    ['wild actions', { ...everything, Action: 's3:Get*' }, {}, 'allow'],
    ['another action', { ...everything, Action: 's3:Put*' }, {}, 'none'],
    ['all actions but one', { Effect: 'Allow', NotAction: 's3:GetObject', Resource: '*' }, {}, 'none'],
    ['all actions but another', { Effect: 'Allow', NotAction: 's3:PutObject', Resource: '*' }, {}, 'allow'],
    ['a resource by ARN', { ...everything, Resource: 'arn:aws:s3:::b/*' }, {}, 'allow'],
    ['a bare resource', { ...everything, Resource: 'b/*' }, {}, 'allow'],
    ['resources with regard to case', { ...everything, Resource: 'B/*' }, {}, 'none'],
    ['another bucket that begins the same', { ...everything, Resource: 'b/*' }, { resource: 'bb/k' }, 'none'],
    ['all resources but one', { Effect: 'Allow', Action: 's3:*', NotResource: 'b/*' }, {}, 'none'],
    ['all resources but another', { Effect: 'Allow', Action: 's3:*', NotResource: 'c/*' }, {}, 'allow'],
    ['the bucket by its contents, as MinIO does', { ...everything, Resource: 'b/*' }, { resource: 'b' }, 'allow'],
    ['the bucket alone', { ...everything, Resource: 'b' }, { resource: 'b' }, 'allow'],
    ['no object by its bucket', { ...everything, Resource: 'b' }, { resource: 'b/k' }, 'none'],
    [
      'an admin action without resource',
      { Effect: 'Allow', Action: 'admin:*' },
      { action: 'admin:ServerInfo', resource: '' },
      'allow',
    ],
    [
      'an admin action that is named beside an S3 resource, as MinIO does',
      { Effect: 'Allow', Action: 'admin:*', Resource: 'b/*' },
      { action: 'admin:ServerInfo', resource: '' },
      'allow',
    ],
    [
      'no admin action by everything in one bucket',
      { Effect: 'Allow', Action: '*', Resource: 'b/*' },
      { action: 'admin:ServerInfo', resource: '' },
      'none',
    ],
    ['listing all buckets by *', everything, { action: 's3:ListAllMyBuckets', resource: '' }, 'allow'],
    [
      'listing all buckets by one bucket',
      { ...everything, Resource: 'b/*' },
      { action: 's3:ListAllMyBuckets', resource: '' },
      'none',
    ],
  ])('%s', (_, statement, request, effect) => {
    expect(decide([statement], request).effect).toBe(effect);
  });
});

describe('variables', () => {
  const own = { ...everything, Resource: 'arn:aws:s3:::home/${aws:username}/*' };

  it.each<[string, Statement, PolicyRequest['variables'], string, string]>([
    ['stand for their value', own, { 'aws:username': 'ann' }, 'home/ann/x', 'allow'],
    ['have names without regard to case', own, { 'AWS:UserName': 'ann' }, 'home/ann/x', 'allow'],
    ['never match without a value', own, {}, 'home/${aws:username}/x', 'none'],
    ['bring no wildcards in', own, { 'aws:username': '*' }, 'home/ann/x', 'none'],
    ['may hold a star that is one', own, { 'aws:username': '*' }, 'home/*/x', 'allow'],
    ['may have a default', { ...everything, Resource: "home/${jwt:team, 'all'}/*" }, {}, 'home/all/x', 'allow'],
    ['may be a literal star', { ...everything, Resource: 'home/${*}' }, {}, 'home/x', 'none'],
    ['may be a literal star', { ...everything, Resource: 'home/${*}' }, {}, 'home/*', 'allow'],
    ['may be a literal question mark', { ...everything, Resource: 'home/${?}' }, {}, 'home/?', 'allow'],
    ['may be a literal dollar', { ...everything, Resource: 'home/${$}{x}' }, {}, 'home/${x}', 'allow'],
  ])('%s', (_, statement, variables, resource, effect) => {
    expect(decide([statement], { variables, resource }).effect).toBe(effect);
  });

  it('are plain text in documents of 2008', () => {
    expect(decide([own], { variables: { 'aws:username': 'ann' }, resource: 'home/ann/x' }, '2008-10-17').effect).toBe(
      'none',
    );
  });

  it.each<[string, Statement]>([
    ['NotResource', { Effect: 'Allow', Action: 's3:*', NotResource: 'home/${aws:username}/*' }],
    ['a negated condition', { ...everything, Condition: { StringNotEquals: { 's3:prefix': '${aws:username}' } } }],
  ])('that no one gave never widen an Allow by %s', (_, statement) => {
    expect(decide([statement], { context: { 's3:prefix': ['ann'] }, resource: 'home/ann/x' }).effect).toBe('none');
  });

  it('that no one gave never lift a Deny of NotResource', () => {
    const deny: Statement = { Effect: 'Deny', Action: 's3:*', NotResource: 'home/${aws:username}/*' };
    expect(decide([everything, deny], { resource: 'home/ann/x' }).effect).toBe('deny');
  });
});

function holds(operator: string, expected: unknown, actual?: readonly string[]): boolean {
  const statement = { ...everything, Condition: { [operator]: { 's3:prefix': expected } } };
  const context: PolicyRequest['context'] = actual === undefined ? {} : { 's3:Prefix': actual };
  return decide([statement], { context, variables: { 'aws:username': 'Ann' } }).effect === 'allow';
}

describe('conditions', () => {
  it.each<[string, unknown, readonly string[] | undefined, boolean]>([
    ['StringEquals', 'a', ['a'], true],
    ['StringEquals', 'a', ['A'], false],
    ['StringEquals', ['a', 'b'], ['b'], true],
    ['StringEquals', '*', ['a'], false],
    ['StringEquals', 'a', undefined, false],
    ['StringEquals', '${aws:username}', ['Ann'], true],
    ['StringEquals', '${jwt:sub}', ['${jwt:sub}'], false],
    ['StringNotEquals', 'a', ['b'], true],
    ['StringNotEquals', ['a', 'b'], ['b'], false],
    ['StringNotEquals', 'a', undefined, true],
    ['StringEqualsIgnoreCase', 'a', ['A'], true],
    ['StringNotEqualsIgnoreCase', 'a', ['A'], false],
    ['StringLike', 'home/*', ['home/x'], true],
    ['StringLike', 'home/${aws:username}/?', ['home/Ann/x'], true],
    ['StringLike', 'home/*', undefined, false],
    ['StringNotLike', 'home/*', ['home/x'], false],
    ['StringNotLike', 'home/*', ['other'], true],
    ['StringEqualsIfExists', 'a', undefined, true],
    ['StringEqualsIfExists', 'a', ['b'], false],
    ['StringNotLikeIfExists', 'a', undefined, true],
    ['Null', 'true', undefined, true],
    ['Null', 'true', ['a'], false],
    ['Null', 'false', ['a'], true],
    ['Null', false, undefined, false],
  ])('%s %j on %j is %s', (operator, expected, actual, outcome) => {
    expect(holds(operator, expected, actual)).toBe(outcome);
  });

  it('must all hold', () => {
    const statement = { ...everything, Condition: { StringEquals: { 's3:a': '1', 's3:b': '2' } } };
    expect(decide([statement], { context: { 's3:a': ['1'], 's3:b': ['2'] } }).effect).toBe('allow');
    expect(decide([statement], { context: { 's3:a': ['1'], 's3:b': ['3'] } }).effect).toBe('none');
  });
});

describe('the built-in policies', () => {
  it.each<[string, string, string, string]>([
    ['readonly', 's3:GetObject', 'b/k', 'allow'],
    ['readonly', 's3:GetBucketLocation', 'b', 'allow'],
    ['readonly', 's3:ListBucket', 'b', 'none'],
    ['readonly', 's3:PutObject', 'b/k', 'none'],
    ['writeonly', 's3:PutObject', 'b/k', 'allow'],
    ['writeonly', 's3:GetObject', 'b/k', 'none'],
    ['readwrite', 's3:DeleteBucket', 'b', 'allow'],
    ['readwrite', 's3:ListAllMyBuckets', '', 'allow'],
    ['readwrite', 'admin:ServerInfo', '', 'none'],
    ['diagnostics', 'admin:ServerInfo', '', 'allow'],
    ['diagnostics', 'admin:CreateUser', '', 'none'],
    ['diagnostics', 's3:GetObject', 'b/k', 'none'],
    ['consoleAdmin', 'admin:CreateUser', '', 'allow'],
    ['consoleAdmin', 'kms:CreateKey', '', 'allow'],
    ['consoleAdmin', 's3:PutObject', 'b/k', 'allow'],
  ])('%s and %s on "%s": %s', (name, action, resource, effect) => {
    const document = builtInPolicies.get(name)!;
    expect(evaluate([{ name, document }], { action, resource, context: {}, variables: {} }).effect).toBe(effect);
  });
});

describe('beside a naive evaluator', () => {
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*', '?'), minLength: 1, maxLength: 5 });
  const actions = fc.array(fc.constantFrom('s3:*', 's3:Get*', 's3:GetObject', 's3:PutObject', '*'), {
    minLength: 1,
    maxLength: 2,
  });
  const conditions = fc.option(
    fc.dictionary(
      fc.constantFrom('StringEquals', 'StringNotEquals', 'StringLike', 'StringNotLikeIfExists', 'StringLikeIfExists'),
      fc.constant(0).chain(() => pattern.map((value) => ({ 's3:prefix': value }))),
      { maxKeys: 2 },
    ),
    { nil: undefined },
  );
  const statement = fc
    .record({
      Effect: fc.constantFrom('Allow', 'Allow', 'Deny'),
      actions,
      notAction: fc.boolean(),
      resources: fc.array(pattern, { minLength: 1, maxLength: 2 }),
      notResource: fc.boolean(),
      Condition: conditions,
    })
    .map(({ Effect, actions, notAction, resources, notResource, Condition }) => ({
      Effect,
      ...(notAction ? { NotAction: actions } : { Action: actions }),
      ...(notResource ? { NotResource: resources } : { Resource: resources }),
      ...(Condition === undefined ? {} : { Condition }),
    }));
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/'), minLength: 1, maxLength: 4 });
  const request = fc.record({
    action: fc.constantFrom('s3:GetObject', 's3:PutObject'),
    resource: text.map((key) => `a/${key}`),
    prefix: fc.option(text, { nil: undefined }),
  });

  it('decides the same', () => {
    fc.assert(
      fc.property(
        fc.array(statement, { minLength: 1, maxLength: 4 }),
        request,
        (statements, { action, resource, prefix }) => {
          const context: PolicyRequest['context'] = prefix === undefined ? {} : { 's3:prefix': [prefix] };
          expect(decide(statements, { action, resource, context }).effect).toBe(
            naive(statements, action, resource, prefix),
          );
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

function fits(pattern: string, text: string): boolean {
  return new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's').test(text);
}

function anyFits(patterns: string | string[] | undefined, text: string): boolean {
  return [patterns ?? []].flat().some((pattern) => fits(pattern, text));
}

function naive(statements: Statement[], action: string, resource: string, prefix: string | undefined): string {
  const applying = statements.filter((statement) => {
    const byAction = statement.Action ? anyFits(statement.Action, action) : !anyFits(statement.NotAction, action);
    const byResource = statement.Resource
      ? anyFits(statement.Resource, resource)
      : !anyFits(statement.NotResource, resource);
    const byCondition = Object.entries(statement.Condition ?? {}).every(([operator, keys]) => {
      const expected = String(keys['s3:prefix']);
      if (prefix === undefined) return operator.includes('Not') || operator.endsWith('IfExists');
      const found = operator.includes('Like') ? fits(expected, prefix) : expected === prefix;
      return operator.includes('Not') ? !found : found;
    });
    return byAction && byResource && byCondition;
  });
  if (applying.some(({ Effect }) => Effect === 'Deny')) return 'deny';
  return applying.length > 0 ? 'allow' : 'none';
}
