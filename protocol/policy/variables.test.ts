import { describe, expect, it } from 'vitest';
import { evaluate } from './evaluate.ts';
import { type PolicyRequest } from './policy-request.ts';
import { parsePolicyDocument } from './parse-policy.ts';
import { applies, both, holds, policyOf, requestOf } from '../../test/support/policy/policy-cases.ts';

const known = {
  'aws:username': 'ann',
  'aws:userid': 'AIDA1',
  'aws:principaltype': 'User',
  'jwt:sub': '248289761001',
  'jwt:preferred_username': 'ann',
  'jwt:email': 'ann@example.com',
  'ldap:user': 'uid=ann,ou=people,dc=example,dc=com',
  'ldap:username': 'ann',
};

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html */
const isTeam = (key: string) => key === 'jwt:team';

describe('variables in Resource', () => {
  it.each<[string, string, boolean]>([
    ['home/${aws:username}/*', 'home/ann/x', true],
    ['home/${aws:username}/*', 'home/bob/x', false],
    ['home/${aws:username}', 'home/ann', true],
    ['${aws:username}-home/*', 'ann-home/x', true],
    ['home/${AWS:UserName}/*', 'home/ann/x', true],
    ['home/${ aws:username }/*', 'home/ann/x', true],
    ['home/${aws:userid}/*', 'home/AIDA1/x', true],
    ['home/${aws:principaltype}/*', 'home/User/x', true],
    ['home/${jwt:sub}/*', 'home/248289761001/x', true],
    ['home/${jwt:preferred_username}/*', 'home/ann/x', true],
    ['home/${jwt:email}/*', 'home/ann@example.com/x', true],
    ['home/${ldap:username}/*', 'home/ann/x', true],
    ['home/${ldap:user}/*', 'home/uid=ann,ou=people,dc=example,dc=com/x', true],
    ['home/${aws:username}/${jwt:sub}/*', 'home/ann/248289761001/x', true],
    ['home/${aws:username}*', 'home/anna/x', true],
    // Without a value there is no match, not even of the text itself.
    ['home/${jwt:team}/*', 'home/${jwt:team}/x', false],
    ['home/${jwt:team}/*', 'home//x', false],
    ['home/${jwt:team}*', 'home/x', false],
    // Defaults, in which nothing is wild.
    ["home/${jwt:team, 'all'}/*", 'home/all/x', true],
    ["home/${jwt:team,'all'}/*", 'home/all/x', true],
    ["home/${aws:username, 'all'}/*", 'home/all/x', false],
    ["home/${aws:username, 'all'}/*", 'home/ann/x', true],
    ["home/${jwt:team, '*'}/*", 'home/any/x', false],
    ["home/${jwt:team, '*'}/*", 'home/*/x', true],
    ["home/${jwt:team, ''}x", 'home/x', true],
    // Characters that would otherwise be wild.
    ['home/${*}', 'home/x', false],
    ['home/${*}', 'home/*', true],
    ['home/a${?}c', 'home/abc', false],
    ['home/a${?}c', 'home/a?c', true],
    ['home/${$}{x}', 'home/${x}', true],
  ])('%s and "%s": %s', (Resource, resource, outcome) => {
    expect(applies({ Effect: 'Allow', Action: 's3:*', Resource }, { resource, variables: known })).toBe(outcome);
    expect(applies({ Effect: 'Deny', Action: 's3:*', Resource }, { resource, variables: known })).toBe(outcome);
  });

  it.each<[string, Record<string, readonly string[]>]>([
    ['a list of texts', { 'jwt:groups': ['a', 'b'] }],
    ['a claim of another form', { 'jwt:groups': [] }],
  ])('have no default where the request has %s', (_, context) => {
    const statement = { Effect: 'Allow', Action: 's3:*', Resource: "home/${jwt:groups, 'none'}/*" } as const;
    expect(applies(statement, { resource: 'home/none/x', context })).toBe(false);
    expect(applies(statement, { resource: 'home/none/x' })).toBe(true);
  });

  it('have no default where it is unknown whether the request has them', () => {
    const statement = { Effect: 'Allow', Action: 's3:*', Resource: "home/${jwt:team, 'none'}/*" } as const;
    expect(applies(statement, { resource: 'home/none/x', isUnknown: isTeam })).toBe(false);
    expect(applies(statement, { resource: 'home/none/x', isUnknown: isTeam, context: { 'jwt:team': ['none'] } })).toBe(
      true,
    );
  });

  it('bring no wildcards in', () => {
    const statement = { Effect: 'Allow', Action: 's3:*', Resource: 'home/${aws:username}/*' } as const;
    for (const name of ['*', '?nn', 'a*', '${*}', '${aws:userid}']) {
      expect(applies(statement, { resource: 'home/ann/x', variables: { 'aws:username': name } })).toBe(false);
      expect(applies(statement, { resource: `home/${name}/x`, variables: { 'aws:username': name } })).toBe(true);
    }
  });

  it.each<[string, PolicyRequest['context'], boolean]>([
    ['a condition key with one value', { 's3:prefix': ['ann'] }, true],
    ['no condition key with several', { 's3:prefix': ['ann', 'bob'] }, false],
    ['no condition key with none', { 's3:prefix': [] }, false],
    ['a condition key in another case', { 'S3:Prefix': ['ann'] }, true],
  ])('may be %s', (_, context, outcome) => {
    const statement = { Effect: 'Allow', Action: 's3:*', Resource: 'home/${s3:prefix}/*' } as const;
    expect(applies(statement, { resource: 'home/ann/x', context })).toBe(outcome);
  });

  it('are what is known of the sender before what the request says', () => {
    const statement = { Effect: 'Allow', Action: 's3:*', Resource: 'home/${aws:username}/*' } as const;
    const request = { variables: { 'aws:username': 'ann' }, context: { 'aws:username': ['bob'] } };
    expect(applies(statement, { ...request, resource: 'home/ann/x' })).toBe(true);
    expect(applies(statement, { ...request, resource: 'home/bob/x' })).toBe(false);
  });

  it('without a value never widen an Allow of NotResource, nor lift a Deny of it', () => {
    const NotResource = ['shared/*', 'home/${jwt:team}/*'];
    expect(applies({ Effect: 'Allow', Action: 's3:*', NotResource }, { resource: 'x/y' })).toBe(false);
    expect(applies({ Effect: 'Deny', Action: 's3:*', NotResource }, { resource: 'x/y' })).toBe(true);
  });

  // A provider may let users empty a claim, and `home/${jwt:team}*` would be everybody's home.
  it.each<[string, string, boolean]>([
    ['home/${jwt:team}*', 'home/bob/x', false],
    ['home/${jwt:team}/*', 'home//x', false],
    ["home/${jwt:team, 'all'}/*", 'home/all/x', true],
  ])('with an empty value stand for nothing: %s and "%s": %s', (Resource, resource, outcome) => {
    const request = { resource, variables: { 'jwt:team': '' }, context: { 'jwt:team': ['bob'] } };
    expect(applies({ Effect: 'Allow', Action: 's3:*', Resource }, request)).toBe(outcome);
    expect(applies({ Effect: 'Allow', Action: 's3:*', NotResource: Resource }, { ...request, resource: 'x/y' })).toBe(
      outcome,
    );
  });

  it('with an empty value allow no listing of a whole bucket', () => {
    const Condition = { StringEquals: { 's3:prefix': '${jwt:team}' } };
    const statement = { Effect: 'Allow', Action: 's3:ListBucket', Resource: '*', Condition } as const;
    const asked = (prefix: string, team: string) =>
      applies(statement, {
        action: 's3:ListBucket',
        resource: 'home',
        context: { 's3:prefix': [prefix] },
        variables: { 'jwt:team': team },
      });
    expect([asked('a/', 'a/'), asked('', 'a/'), asked('', '')]).toEqual([true, false, false]);
  });

  it('are not looked for in names of actions', () => {
    expect(() => policyOf({ Effect: 'Allow', Action: 's3:${aws:username}', Resource: '*' })).toThrow(/Action/);
  });

  it.each(['home/${aws:username', 'home/${}', 'home/${a${b}}', 'home/${a, b}', "home/${a, 'b}", 'home/${a*}'])(
    'are refused as "%s"',
    (Resource) => {
      expect(() => policyOf({ Effect: 'Allow', Action: 's3:*', Resource })).toThrow(/policy variable/);
    },
  );

  it('are plain text in documents of 2008', () => {
    const Statement = [{ Effect: 'Allow', Action: 's3:*', Resource: 'home/${aws:username}/*' }];
    const old = { name: 'p', document: parsePolicyDocument({ Version: '2008-10-17', Statement }) };
    expect(evaluate([old], requestOf({ resource: 'home/ann/x', variables: known })).effect).toBe('none');
    expect(evaluate([old], requestOf({ resource: 'home/${aws:username}/x', variables: known })).effect).toBe('allow');
  });
});

describe('variables in conditions', () => {
  it.each<[string, string, string, boolean]>([
    ['StringEquals', '${aws:username}', 'ann', true],
    ['StringEquals', '${aws:username}', 'Ann', false],
    ['StringEquals', 'home/${aws:username}/', 'home/ann/', true],
    ['StringEquals', "${jwt:team, 'all'}", 'all', true],
    ['StringEquals', '${jwt:team}', '${jwt:team}', false],
    ['StringEqualsIgnoreCase', '${aws:username}', 'ANN', true],
    ['StringLike', '${aws:username}/*', 'ann/x', true],
    ['StringLike', '${aws:username}/*', 'bob/x', false],
    ['StringNotEquals', '${aws:username}', 'bob', true],
    ['StringNotEquals', '${aws:username}', 'ann', false],
    ['StringNotLike', '${aws:username}/*', 'ann/x', false],
    ['ForAnyValue:StringEquals', '${aws:username}', 'ann', true],
    ['ForAllValues:StringLike', '${aws:username}*', 'anna', true],
    ['ArnEquals', 'arn:aws:iam:::user/${aws:username}', 'arn:aws:iam:::user/ann', true],
  ])('%s %s on "%s": %s', (operator, expected, actual, outcome) => {
    expect(holds(operator, expected, actual, known)).toEqual(both(outcome));
  });

  it.each([
    'StringNotEquals',
    'StringNotEqualsIgnoreCase',
    'StringNotLike',
    'StringNotEqualsIfExists',
    'ForAnyValue:StringNotLike',
  ])('without a value make no Allow of %s', (operator) => {
    expect(holds(operator, ['x', '${jwt:team}'], 'ann')).toEqual({ allow: false, deny: true });
  });

  it('without a value leave the other values of a list', () => {
    expect(holds('StringEquals', ['${jwt:team}', 'ann'], 'ann')).toEqual(both(true));
  });
});
