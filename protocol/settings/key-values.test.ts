import { assert, dictionary, property, stringMatching } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatKeyValues, parseConfigLines, parseKeyValues } from './key-values.ts';

const read = (text: string) => Object.fromEntries(parseKeyValues(text));

describe('parseKeyValues', () => {
  it.each([
    ['a=1 b=2', { a: '1', b: '2' }],
    ['  a=1\n b=2 ', { a: '1', b: '2' }],
    ['display_name=Our staff scopes=openid,email', { display_name: 'Our staff', scopes: 'openid,email' }],
    ['display_name="Our staff" enable=off', { display_name: 'Our staff', enable: 'off' }],
    ['comment="say "hello" twice" a=1', { comment: 'say "hello" twice', a: '1' }],
    ['comment="a=b c=d"', { comment: 'a=b c=d' }],
    ['url=https://x/?a=b&c=d', { url: 'https://x/?a=b&c=d' }],
    ['a= b=2', { a: '', b: '2' }],
    ['a="" b=2', { a: '', b: '2' }],
    ['', {}],
  ])('reads %j', (text, values) => {
    expect(read(text)).toEqual(values);
  });

  it.each([
    ['word', /"word"/],
    ['=1', /key=value/],
    ['a=1 a=2', /a is given twice/],
    ['a="1', /closing quote/],
  ])('refuses %j', (text, says) => {
    expect(() => parseKeyValues(text)).toThrow(says);
  });

  it('does not repeat what may be a secret', () => {
    expect(() => parseKeyValues('client_secret="hunter2')).not.toThrow(/hunter2/);
  });

  it('reads what formatKeyValues writes', () => {
    const value = stringMatching(/^[ -~]*$/).filter((text) => !/"\s|"$/.test(text));
    const key = stringMatching(/^[a-z][a-z_]{0,8}$/);
    assert(
      property(dictionary(key, value), (values) => {
        expect(read(formatKeyValues(Object.entries(values)))).toEqual({ ...values });
      }),
    );
  });
});

describe('parseConfigLines', () => {
  it('reads subsystems, targets and keys, and leaves comments out', () => {
    const text = '# MINIO_REGION=x\n\nidentity_openid:okta client_id=a enable=on\nregion name=eu\n';
    expect(parseConfigLines(text)).toEqual([
      {
        subsystem: 'identity_openid',
        target: 'okta',
        values: new Map(Object.entries({ client_id: 'a', enable: 'on' })),
      },
      { subsystem: 'region', target: '_', values: new Map([['name', 'eu']]) },
    ]);
  });
});
