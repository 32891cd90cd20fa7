import { array, assert, constantFrom, option, property, record, integer, stringMatching, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findCorsRule, parseCors, writeCors } from './bucket-cors.ts';
import { S3Error } from './s3-error.ts';

const origin = '<AllowedOrigin>*</AllowedOrigin>';
const method = '<AllowedMethod>GET</AllowedMethod>';
const minimal = origin + method;
const rule = (content: string) => `<CORSRule>${content}</CORSRule>`;
const configuration = (...rules: string[]) => `<CORSConfiguration>${rules.map(rule).join('')}</CORSConfiguration>`;

describe('parseCors', () => {
  it('reads each element of a rule', () => {
    const text =
      '<ID>one</ID><AllowedOrigin>https://*.example.com</AllowedOrigin><AllowedMethod>PUT</AllowedMethod>' +
      '<AllowedMethod>POST</AllowedMethod><AllowedHeader>x-amz-*</AllowedHeader><ExposeHeader>ETag</ExposeHeader>' +
      '<MaxAgeSeconds>3000</MaxAgeSeconds>';
    expect(parseCors(configuration(text))).toEqual([
      {
        id: 'one',
        origins: ['https://*.example.com'],
        methods: ['PUT', 'POST'],
        headers: ['x-amz-*'],
        exposed: ['ETag'],
        maxAgeSeconds: 3000,
      },
    ]);
  });

  it.each([
    ['another root', '<Cors/>', 'MalformedXML'],
    ['an unknown element', configuration(`${minimal}<AllowedHeaders>*</AllowedHeaders>`), 'MalformedXML'],
    ['an element beside the rules', '<CORSConfiguration><Rule/></CORSConfiguration>', 'MalformedXML'],
    ['an element in a value', configuration(`<AllowedOrigin><a/></AllowedOrigin>${method}`), 'MalformedXML'],
    ['no origin', configuration(method), 'MalformedXML'],
    ['no method', configuration(origin), 'MalformedXML'],
    ['two IDs', configuration(`${minimal}<ID>a</ID><ID>b</ID>`), 'MalformedXML'],
    ['an ID of 256 characters', configuration(`${minimal}<ID>${'a'.repeat(256)}</ID>`), 'MalformedXML'],
    ['an age below 32 bits', configuration(`${minimal}<MaxAgeSeconds>-2147483648</MaxAgeSeconds>`), 'MalformedXML'],
    ['an age above 32 bits', configuration(`${minimal}<MaxAgeSeconds>2147483648</MaxAgeSeconds>`), 'MalformedXML'],
    ['an age of no digits', configuration(`${minimal}<MaxAgeSeconds></MaxAgeSeconds>`), 'MalformedXML'],
    ['101 rules', configuration(...Array.from({ length: 101 }, () => minimal)), 'InvalidRequest'],
    ['a method of no rule', configuration(`${origin}<AllowedMethod>PATCH</AllowedMethod>`), 'InvalidRequest'],
    ['a method in lower case', configuration(`${origin}<AllowedMethod>get</AllowedMethod>`), 'InvalidRequest'],
    ['two wildcards in an origin', configuration(`${method}<AllowedOrigin>*.*</AllowedOrigin>`), 'InvalidRequest'],
    ['two wildcards in a header', configuration(`${minimal}<AllowedHeader>*a*</AllowedHeader>`), 'InvalidRequest'],
    ['a wildcard to expose', configuration(`${minimal}<ExposeHeader>*</ExposeHeader>`), 'InvalidRequest'],
    [
      'a header that splits the answer',
      configuration(`${minimal}<ExposeHeader>a&#13;&#10;b:c</ExposeHeader>`),
      'InvalidRequest',
    ],
  ])('refuses %s', (_, document, code) => {
    expect(() => parseCors(document)).toThrow(expect.objectContaining({ code }));
  });

  it('says in the words of AWS what is wrong', () => {
    expect(() => parseCors(configuration(`${origin}<AllowedMethod>PATCH</AllowedMethod>`))).toThrow(
      'Found unsupported HTTP method in CORS config. Unsupported method is PATCH',
    );
    expect(() => parseCors(configuration(`${method}<AllowedOrigin>*a*</AllowedOrigin>`))).toThrow(
      'AllowedOrigin "*a*" can not have more than one wildcard.',
    );
  });

  it('accepts no rule, 100 rules, and 255 characters', () => {
    expect(parseCors(configuration())).toEqual([]);
    expect(parseCors(configuration(...Array.from({ length: 100 }, () => minimal)))).toHaveLength(100);
    expect(parseCors(configuration(`${minimal}<ID>${'a'.repeat(255)}</ID>`))[0]?.id).toHaveLength(255);
  });

  it('reads what writeCors writes', () => {
    const name = stringMatching(/^[A-Za-z-]{1,9}$/);
    const text = stringMatching(/^[!-~]{0,12}$/).map((one) => one.replaceAll('*', ''));
    const rules = array(
      record(
        {
          id: stringMatching(/^[!-~]{0,20}$/),
          origins: array(text, { minLength: 1, maxLength: 3 }),
          methods: array(constantFrom('GET', 'PUT', 'HEAD', 'POST', 'DELETE'), { minLength: 1, maxLength: 5 }),
          headers: array(name, { maxLength: 3 }),
          exposed: array(name, { maxLength: 3 }),
          maxAgeSeconds: integer({ min: 1 - 2 ** 31, max: 2 ** 31 - 1 }),
        },
        { requiredKeys: ['origins', 'methods', 'headers', 'exposed'] },
      ),
      { minLength: 1, maxLength: 5 },
    );
    assert(
      property(rules, (given) => {
        expect(parseCors(writeCors(given))).toEqual(given);
      }),
    );
  });

  it('ends any document with rules or an S3Error', () => {
    const part = constantFrom(
      '<CORSConfiguration>',
      '</CORSConfiguration>',
      '<CORSRule>',
      '</CORSRule>',
      origin,
      method,
      '<ID>',
      '</ID>',

      '<AllowedHeader>',
      '</AllowedHeader>',
      '*',
      '<![CDATA[',
      ']]>',
      '&amp;',
      '&#x0;',
      '<MaxAgeSeconds>9</MaxAgeSeconds>',
    );
    assert(
      property(array(option(part).chain((known) => (known === null ? string() : constantFrom(known)))), (parts) => {
        try {
          expect(parseCors(parts.join('')).length).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(S3Error);
        }
      }),
    );
  });
});

const rules = (origins: string[], headers: string[] = []) => [{ origins, methods: ['GET'], headers, exposed: [] }];
const allows = (pattern: string, from: string) =>
  findCorsRule(rules([pattern]), { origin: from, method: 'GET', headers: [] }) !== undefined;
const find = (...headers: string[]) =>
  findCorsRule(rules(['*'], ['X-Amz-*', 'Content-Type']), { origin: 'a', method: 'GET', headers });

describe('findCorsRule', () => {
  it.each([
    ['*', 'https://a.example', true],
    ['*', 'null', true],
    ['https://a.example', 'https://a.example', true],
    ['https://a.example', 'http://a.example', false],
    ['https://a.example', 'https://a.example:8443', false],
    ['https://a.example', 'https://a.example.evil', false],
    ['https://*.a.example', 'https://b.c.a.example', true],
    ['https://*.a.example', 'https://a.example', false],
    ['https://*.a.example', 'https://evil.test/.a.example.evil', false],
    ['start*end', 'startend', true],
    ['start*end', 'start1end', true],
    ['start*end', 'startnd', false],
    ['aba*aba', 'ababa', false],
    ['https://a.example:*', 'https://a.example:9', true],
  ])('%s for %s: %s', (pattern, from, expected) => {
    expect(allows(pattern, from)).toBe(expected);
  });

  it('compares every announced header, without regard to case', () => {
    expect(find('x-amz-date', 'content-type')).toBeDefined();
    expect(find('x-amz-date', 'authorization')).toBeUndefined();
  });

  it('takes the first rule of several', () => {
    const [first] = rules(['https://a.example']);
    const [second] = rules(['*']);
    if (first === undefined || second === undefined) throw new Error('no rules');
    expect(findCorsRule([first, second], { origin: 'https://a.example', method: 'GET', headers: [] })).toBe(first);
    expect(findCorsRule([first, second], { origin: 'https://b.example', method: 'GET', headers: [] })).toBe(second);
    expect(findCorsRule([first, second], { origin: 'https://b.example', method: 'PUT', headers: [] })).toBeUndefined();
  });
});
