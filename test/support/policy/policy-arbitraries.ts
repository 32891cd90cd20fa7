import * as fc from 'fast-check';
import type { PolicyRequest } from '../../../protocol/policy/policy-request.ts';
import type { WrittenStatement } from './policy-cases.ts';

/** Few names and short ones, so that policies and requests meet. */
const actions = fc.constantFrom(
  '*',
  's3:*',
  's3:Get*',
  's3:GetObject',
  's3:PutObject',
  'admin:*',
  'kms:*',
  's3:?etObject',
);
const resources = fc.constantFrom(
  '*',
  'arn:aws:s3:::*',
  'arn:aws:s3:::a/*',
  'arn:aws:s3:::a',
  'arn:aws:s3:::a/b',
  'arn:aws:s3:::a/${aws:username}/*',
  "arn:aws:s3:::${jwt:team, 'a'}/*",
  'arn:minio:kms:::k*',
);
const texts = fc.constantFrom(
  '',
  'a',
  'b',
  'A',
  'a/b',
  '5',
  '10',
  '2026-01-01',
  '10.0.0.1',
  'true',
  'arn:aws:iam:::user/a',
  '${aws:username}',
);
const keys = fc.constantFrom('aws:a', 'aws:B', 's3:prefix');

const values: Readonly<Record<string, fc.Arbitrary<string>>> = {
  String: fc.constantFrom('', 'a', 'b', 'a*', '?', 'a/b', '${aws:username}', "${jwt:team, 'b'}"),
  Numeric: fc.constantFrom('5', '10', '7.5'),
  Date: fc.constantFrom('2026', '2026-01-01', '1795293600'),
  Bool: fc.constantFrom('true', 'false'),
  Null: fc.constantFrom('true', 'false'),
  Ip: fc.constantFrom('10.0.0.0/8', '0.0.0.0/0', '::1'),
  Arn: fc.constantFrom('arn:aws:iam:::user/*', 'arn:aws:iam:::user/${aws:username}'),
};

const named: readonly (readonly [string, string])[] = [
  ['StringEquals', 'String'],
  ['StringNotEquals', 'String'],
  ['StringEqualsIgnoreCase', 'String'],
  ['StringLike', 'String'],
  ['StringNotLike', 'String'],
  ['NumericLessThan', 'Numeric'],
  ['NumericNotEquals', 'Numeric'],
  ['DateGreaterThanEquals', 'Date'],
  ['Bool', 'Bool'],
  ['NotIpAddress', 'Ip'],
  ['IpAddress', 'Ip'],
  ['ArnLike', 'Arn'],
  ['ArnNotEquals', 'Arn'],
];

const operator = fc.oneof(
  { arbitrary: fc.constant(['Null', 'Null'] as const), weight: 1 },
  {
    arbitrary: fc
      .tuple(
        fc.constantFrom('', '', 'ForAllValues:', 'ForAnyValue:'),
        fc.constantFrom(...named),
        fc.constantFrom('', '', 'IfExists'),
      )
      .map(([prefix, [name, family], suffix]) => [`${prefix}${name}${suffix}`, family] as const),
    weight: 8,
  },
);

const condition = operator.chain(([name, family]) =>
  fc
    .tuple(keys, fc.array(values[family] ?? texts, { minLength: 1, maxLength: 2 }))
    .map(([key, list]) => [name, { [key]: list }] as const),
);

function lists(one: fc.Arbitrary<string>): fc.Arbitrary<string[]> {
  return fc.array(one, { minLength: 1, maxLength: 2 });
}

export function statement(effect: fc.Arbitrary<'Allow' | 'Deny'> = fc.constantFrom('Allow', 'Allow', 'Deny')) {
  return fc
    .record({
      effect,
      actions: lists(actions),
      notAction: fc.constantFrom(false, false, true),
      resources: lists(resources),
      notResource: fc.constantFrom(false, false, true),
      conditions: fc.array(condition, { maxLength: 2 }),
    })
    .map((one): WrittenStatement => ({
      Effect: one.effect,
      ...(one.notAction ? { NotAction: one.actions } : { Action: one.actions }),
      ...(one.notResource ? { NotResource: one.resources } : { Resource: one.resources }),
      // The later of two conditions with one operator stays.
      ...(one.conditions.length === 0 ? {} : { Condition: Object.fromEntries(one.conditions) }),
    }));
}

export function statements(): fc.Arbitrary<WrittenStatement[]> {
  return fc.array(statement(), { minLength: 1, maxLength: 4 });
}

export function request(): fc.Arbitrary<PolicyRequest> {
  const context = fc.dictionary(keys, fc.array(texts, { maxLength: 2 }), { maxKeys: 3 });
  return fc.record({
    action: fc.constantFrom('s3:GetObject', 's3:PutObject', 'admin:ServerInfo', 'kms:CreateKey'),
    resource: fc.constantFrom('', 'a', 'a/b', 'a/a/b', 'b/c', 'k1'),
    context,
    variables: fc.constantFrom<PolicyRequest['variables']>(
      {},
      { 'aws:username': 'a' },
      { 'aws:username': '*', 'jwt:team': 'a' },
    ),
    principals: fc.constantFrom([], ['ann']),
  });
}
