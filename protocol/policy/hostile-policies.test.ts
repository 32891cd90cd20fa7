import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../s3/s3-error.ts';
import { duplicateKey } from './duplicate-keys.ts';
import { evaluate } from './evaluate.ts';
import { explain } from './explain.ts';
import { parsePolicyDocument, type PolicyParsing } from './parse-policy.ts';
import { requestOf } from '../../test/support/policy/policy-cases.ts';

const good = { Effect: 'Allow', Action: 's3:GetObject', Resource: '*' };

/** The message of the refusal; `accepted` without one. Whatever else is thrown fails the test. */
function outcome(document: unknown, options: PolicyParsing = {}): string {
  try {
    parsePolicyDocument(document, options);
    return 'accepted';
  } catch (error) {
    if (error instanceof S3Error && error.code === 'MalformedPolicy') return error.message;
    throw error;
  }
}

const withStatement = (changes: Record<string, unknown>) => JSON.stringify({ Statement: [{ ...good, ...changes }] });

describe('a hostile document', () => {
  it.each<[string, unknown, RegExp]>([
    ['larger than 20 KiB', withStatement({ Sid: 'x'.repeat(20_480) }), /at most 20480/],
    ['larger than 20 KiB in bytes, not characters', withStatement({ Sid: 'ü'.repeat(10_240) }), /at most 20480/],
    ['lists in lists', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, /must be an object/],
    ['lists in lists that never end', '['.repeat(20_000), /not valid JSON/],
    ['objects in objects', `{"Statement":${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}}`, /MalformedPolicy|not valid/],
    ['a value nested deep', withStatement({}).replace('"*"', `${'['.repeat(5_000)}${']'.repeat(5_000)}`), /not valid/],
    ['an object that holds itself', cyclic(), /not valid JSON/],
    ['a number that JSON does not know', { Statement: 1n }, /not valid JSON/],
    ['nothing', undefined, /not valid JSON/],
    ['null', 'null', /must be an object/],
    ['a text', '"policy"', /must be an object/],
    ['an empty text', '', /not valid JSON/],
    ['a byte order mark', `\uFEFF${withStatement({})}`, /not valid JSON/],
    [
      '10,000 wildcards in one value',
      withStatement({ Condition: { StringLike: { 's3:prefix': '*?'.repeat(5_000) } } }),
      /at most 1000/,
    ],
    ['10,000 wildcards in actions', withStatement({ Action: [`s3:${'*'.repeat(10_000)}`] }), /at most 1000/],
    [
      '10,000 wildcards in resources',
      withStatement({ Resource: Array.from({ length: 10 }, () => '*a'.repeat(500)) }),
      /at most 1000/,
    ],
    [
      '500 statements and one',
      JSON.stringify({ Statement: Array.from({ length: 501 }, () => ({})) }),
      /501 are too many/,
    ],
  ])('of %s is refused', (_, document, message) => {
    expect(outcome(document)).toMatch(message);
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'])(
    'with the name %s is refused',
    (name) => {
      const quoted = JSON.stringify(name);
      expect(outcome(`{${quoted}:{},"Statement":[${JSON.stringify(good)}]}`)).toMatch(/is no field/);
      expect(outcome(withStatement({}).replace('"Sid"', quoted).replace('"Effect"', `${quoted}:1,"Effect"`))).toMatch(
        /is no field/,
      );
      expect(
        outcome(withStatement({ Condition: 1 }).replace('"Condition":1', `"Condition":{${quoted}:{"s3:a":"b"}}`)),
      ).toMatch(/is no condition operator/);
      expect(
        outcome(
          withStatement({ Condition: 1 }).replace('"Condition":1', `"Condition":{"StringEquals":{${quoted}:"b"}}`),
        ),
      ).toMatch(/is no condition key/);
      expect(outcome(withStatement({ Effect: name }))).toMatch(/must be "Allow" or "Deny"/);
      expect(outcome(withStatement({ Action: name }))).toMatch(/Action/);
    },
  );

  it.each(['aws:__proto__', 'aws:constructor', 'aws:toString'])(
    'finds no value under the key or variable %s',
    (name) => {
      const document = parsePolicyDocument(withStatement({ Condition: { Null: { [name]: 'false' } } }));
      expect(evaluate([{ name: 'p', document }], requestOf()).effect).toBe('none');
      const variable = parsePolicyDocument(withStatement({ Resource: `*\${${name}}*` }));
      expect(evaluate([{ name: 'p', document: variable }], requestOf()).effect).toBe('none');
    },
  );

  it.each(['__proto__', 'constructor', 'toString'])('finds nothing for the variable %s', (name) => {
    const document = parsePolicyDocument(withStatement({ Resource: `*\${${name}}*` }));
    expect(evaluate([{ name: 'p', document }], requestOf()).effect).toBe('none');
  });

  it.each([
    ['two Effects', '{"Statement":[{"Effect":"Deny","Effect":"Allow","Action":"s3:*","Resource":"*"}]}', 'Effect'],
    ['two Statements', '{"Statement":[],"Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}', 'Statement'],
    ['two names, one escaped', '{"Version":"2012-10-17","\\u0056ersion":"2008-10-17","Statement":[]}', 'Version'],
    [
      'two operators',
      '{"Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*","Condition":{"Bool":{"a:b":"true"},"Bool":{"a:c":"true"}}}]}',
      'Bool',
    ],
    [
      'two keys',
      '{"Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*","Condition":{"Bool":{"a:b":"true","a:b":"false"}}}]}',
      'a:b',
    ],
  ])('with %s is refused, as one of them would count without a word', (_, document, name) => {
    expect(outcome(document)).toContain(`"${name}" stands twice`);
  });

  it('is refused with a short message', () => {
    const key = `a:${'x'.repeat(15_000)}`;
    expect(outcome(withStatement({ Condition: { StringEquals: { [key]: [] } } })).length).toBeLessThan(1_000);
    expect(outcome(withStatement({ Effect: 'x'.repeat(15_000) })).length).toBeLessThan(1_000);
    expect(outcome(withStatement({ ['x'.repeat(15_000)]: 1 })).length).toBeLessThan(1_000);
  });

  it('may be larger where the caller says so', () => {
    const large = JSON.stringify({ Statement: Array.from({ length: 2_000 }, () => good) });
    expect(outcome(large, { maxBytes: 1e6, maxStatements: 2_000, maxWildcards: 2_000 })).toBe('accepted');
    expect(outcome(large, { maxBytes: 1e6, maxStatements: 1_999, maxWildcards: 2_000 })).toMatch(/at most 1999/);
    expect(outcome(large, { maxBytes: 1e6, maxStatements: 2_000, maxWildcards: 1_999 })).toMatch(/at most 1999/);
  });

  it('that passes keeps no request waiting', () => {
    const text = 'a'.repeat(16_384);
    const patterns = [`${'*a'.repeat(990)}b`, `*${'a?'.repeat(990)}b`, `${'*?'.repeat(495)}b`, `${'a*'.repeat(990)}b`];
    for (const pattern of patterns) {
      const document = parsePolicyDocument(withStatement({ Condition: { StringLike: { 'aws:UserAgent': pattern } } }));
      const request = requestOf({ context: { 'aws:UserAgent': [text] } });
      const started = process.cpuUsage();
      expect(explain({ identity: [{ name: 'p', document }], request }).effect).toBe('deny');
      expect(process.cpuUsage(started).user).toBeLessThan(5e6);
    }
  });

  it('never does anything but be read or refused', () => {
    const words = fc.constantFrom(
      'Version',
      'Statement',
      'Effect',
      'Action',
      'Resource',
      'Condition',
      'StringLike',
      'ForAnyValue:DateEquals',
      'ArnLike',
      'BinaryEquals',
      'IpAddress',
      's3:prefix',
      '__proto__',
    );
    const leaf = fc.oneof(
      fc.constantFrom('Allow', 's3:*', '*', '2012-10-17', '${', '${a:b}', '10.0.0.0/8', 'true'),
      fc.anything(),
    );
    const anything = fc.object({ key: words, maxDepth: 5, values: [leaf] });
    fc.assert(fc.property(anything, (document) => typeof outcome(document) === 'string'));
    fc.assert(
      fc.property(anything, (changes) => typeof outcome({ Statement: [{ ...good, ...changes }] }) === 'string'),
    );
    fc.assert(
      fc.property(anything, (Condition) => typeof outcome({ Statement: [{ ...good, Condition }] }) === 'string'),
    );
    fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => typeof outcome(text) === 'string'));
  });
});

describe('a name that occurs twice', () => {
  it('is found wherever it is, and only in one object', () => {
    expect(duplicateKey('{"a":{"b":1,"c":[{"b":2},{"b":3,"b":4}]}}')).toBe('b');
    expect(duplicateKey('{"a":"a","b":["a","a"],"c":{"a":1}}')).toBeUndefined();
    expect(duplicateKey(String.raw`{"a\"":1,"a":2,"b\\":3,"b":4}`)).toBeUndefined();
    expect(duplicateKey('{"":1,"":2}')).toBe('');
  });

  it('is in no JSON that was made from a value', () => {
    fc.assert(fc.property(fc.json(), (text) => duplicateKey(JSON.stringify(JSON.parse(text))) === undefined));
  });
});

function cyclic(): unknown {
  const value: Record<string, unknown> = {};
  value['Statement'] = value;
  return value;
}
