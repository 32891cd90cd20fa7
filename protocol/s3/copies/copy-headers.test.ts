import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attributesOf, type AnswerHeaders } from './copied-attributes.ts';
import { copyingHeaders, newObjectHeaders, replacingHeaders, uploadChecksumHeaders } from './copy-headers.ts';

const now = new Date('2026-06-01T00:00:00Z');
const kms = {
  'x-amz-server-side-encryption': 'aws:kms',
  'x-amz-server-side-encryption-aws-kms-key-id': 'arn:aws:kms:own',
  'x-amz-server-side-encryption-context': 'eyJhIjoiYiJ9',
  'x-amz-server-side-encryption-bucket-key-enabled': 'true',
};
const lock = {
  'x-amz-object-lock-mode': 'COMPLIANCE',
  'x-amz-object-lock-retain-until-date': '2026-06-02T00:00:00.123Z',
  'x-amz-object-lock-legal-hold': 'ON',
};
const beyond = {
  ...kms,
  ...lock,
  'x-amz-website-redirect-location': '/page',
  'x-amz-storage-class': 'REDUCED_REDUNDANCY',
};
const described = {
  'content-type': 'text/plain',
  'content-encoding': 'gzip',
  'content-disposition': 'inline',
  'content-language': 'de',
  'cache-control': 'no-cache',
  expires: 'never',
  'x-amz-meta-a': '=?UTF-8?B?w7w=?=',
  'x-amz-meta-empty': '',
};
const answer = {
  ...beyond,
  ...described,
  etag: '"e"',
  'content-length': '5',
  'last-modified': 'x',
  'x-amz-version-id': 'v',
  'x-amz-replication-status': 'COMPLETED',
  'x-amz-tagging-count': '1',
  'x-amz-checksum-sha256': 'c2hh',
  'x-amz-checksum-type': 'FULL_OBJECT',
};
const of = (headers: AnswerHeaders) => attributesOf(headers, now);
const codeOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

describe('the headers of a copy', () => {
  it('that keeps the metadata are all that no directive keeps', () => {
    expect(copyingHeaders(of(answer))).toEqual(beyond);
  });

  it('that replaces the metadata have these too', () => {
    expect(replacingHeaders(of(answer))).toEqual({
      ...beyond,
      ...described,
      'x-amz-metadata-directive': 'REPLACE',
    });
  });

  it('that is a new object have the tags too', () => {
    const headers = newObjectHeaders(of(answer), 'same', { tagging: 'a=b' });
    expect(headers).toEqual({ ...beyond, ...described, 'x-amz-tagging': 'a=b' });
  });

  it('on another server name no key, which has another name there', () => {
    const { 'x-amz-server-side-encryption-aws-kms-key-id': _key, ...rest } = beyond;
    expect(newObjectHeaders(of(answer), 'other', { tagging: undefined })).toEqual({ ...rest, ...described });
  });

  it('have the chosen encryption in place of that of the source', () => {
    const encryption = { 'x-amz-server-side-encryption': 'AES256' };
    expect(copyingHeaders(of(kms), { encryption })).toEqual(encryption);
    expect(copyingHeaders(of(kms), { encryption: {} })).toEqual({});
  });

  it('have no lock where the caller leaves it behind', () => {
    expect(copyingHeaders(of(lock), { withoutLock: true })).toEqual({});
  });
});

describe('a copy has no', () => {
  it.each<[string, Readonly<Record<string, string>>]>([
    ['retention that has ended', { ...lock, 'x-amz-object-lock-retain-until-date': '2026-05-31T23:59:59Z' }],
    ['retention without an end that can be read', { ...lock, 'x-amz-object-lock-retain-until-date': 'soon' }],
  ])('%s', (_, headers) => expect(copyingHeaders(of(headers))).toEqual({ 'x-amz-object-lock-legal-hold': 'ON' }));

  it.each([
    ['hold that is off', { 'x-amz-object-lock-legal-hold': 'OFF' }],
    ['name of a tier as storage class', { 'x-amz-storage-class': 'COLD-TIER' }],
    ['encryption that the source has not', {}],
  ])('%s', (_, headers) => expect(copyingHeaders(of(headers))).toEqual({}));
});

const hidden = (name: string) => of({ 'x-coffer-hidden': `unknown, ${name}` });

describe('a copy is refused that would lose', () => {
  it.each(['retention', 'legal-hold'])('a hidden %s', (name) => {
    expect(codeOf(() => copyingHeaders(hidden(name)))).toBe('LockHidden');
    expect(codeOf(() => newObjectHeaders(hidden(name), 'same', { tagging: undefined }))).toBe('LockHidden');
    expect(copyingHeaders(hidden(name), { withoutLock: true })).toEqual({});
  });

  it('hidden tags, where the server does not copy them itself', () => {
    expect(codeOf(() => newObjectHeaders(hidden('tags'), 'same', { tagging: undefined }))).toBe('TagsHidden');
    expect(newObjectHeaders(hidden('tags'), 'same', { tagging: undefined, withoutTags: true })).toEqual({});
    expect(copyingHeaders(hidden('tags'))).toEqual({});
  });

  it('metadata that no header shows, where the server does not copy them itself', () => {
    const attributes = of({ 'x-amz-missing-meta': '2' });
    expect(codeOf(() => replacingHeaders(attributes))).toBe('MetadataHidden');
    expect(codeOf(() => newObjectHeaders(attributes, 'other', { tagging: undefined }))).toBe('MetadataHidden');
    expect(copyingHeaders(attributes)).toEqual({});
  });

  it('the key of a client, unless another encryption is chosen', () => {
    const attributes = of({ 'x-amz-server-side-encryption-customer-algorithm': 'AES256' });
    expect(codeOf(() => copyingHeaders(attributes))).toBe('CustomerKeyNeeded');
    expect(copyingHeaders(attributes, { encryption: {} })).toEqual({});
  });
});

it.each([
  ['CRC32', 'FULL_OBJECT', 'FULL_OBJECT'],
  ['CRC32C', 'COMPOSITE', 'COMPOSITE'],
  ['SHA256', 'FULL_OBJECT', 'COMPOSITE'],
])('an upload in parts of an object with %s of the type %s has the type %s', (algorithm, type, kept) => {
  expect(uploadChecksumHeaders({ checksum: { algorithm, type, value: '' } })).toEqual({
    'x-amz-checksum-algorithm': algorithm,
    'x-amz-checksum-type': kept,
  });
});

it('a copy of a copy has the same headers: nothing is lost or added by going on', () => {
  const value = fc.string({ minLength: 1 });
  const some = Object.fromEntries(Object.keys({ ...beyond, ...described }).map((name) => [name, value]));
  const scheme = fc.constantFrom('AES256', 'aws:kms', 'aws:kms:dsse');
  const shape = { ...some, 'x-amz-server-side-encryption': scheme };
  fc.assert(
    fc.property(fc.record<Record<string, string>>(shape, { requiredKeys: [] }), (headers) => {
      const first = newObjectHeaders(of(headers), 'same', { tagging: undefined });
      expect(newObjectHeaders(of(first), 'same', { tagging: undefined })).toEqual(first);
      for (const name of Object.keys(described)) expect(first[name]).toBe(headers[name]);
    }),
  );
});
