import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type EncryptionOptions, EncryptionRules } from './encryption-rules.ts';

const key = Buffer.alloc(32, 7);
const md5 = createHash('md5').update(key).digest('base64');

function keyHeaders(header: string): Record<string, string> {
  return {
    [`${header}-algorithm`]: 'AES256',
    [`${header}-key`]: key.toString('base64'),
    [`${header}-key-md5`]: md5,
  };
}

describe('the longest place', () => {
  const rules = new EncryptionRules(
    {
      encC: [`s/b/secret/=${key.toString('hex')}`],
      encKms: ['s/b=my-key'],
      encS3: ['s/b/plain'],
    },
    {},
  );

  it.each([
    ['s/b/x', { 'x-amz-server-side-encryption': 'aws:kms', 'x-amz-server-side-encryption-aws-kms-key-id': 'my-key' }],
    ['s/b/plain/x', { 'x-amz-server-side-encryption': 'AES256' }],
    ['s/other', {}],
  ])('decides for a new object %s', (name, headers) => {
    expect([rules.forNew(name), rules.forKey(name), rules.forCopySource(name)]).toEqual([headers, {}, {}]);
  });

  it('with a key of the client gives the headers of each request', () => {
    const own = keyHeaders('x-amz-server-side-encryption-customer');
    expect([rules.forNew('s/b/secret/x'), rules.forKey('s/b/secret/x')]).toEqual([own, own]);
    expect(rules.forCopySource('s/b/secret/x')).toEqual(
      keyHeaders('x-amz-copy-source-server-side-encryption-customer'),
    );
  });
});

describe('a copy of an encrypted object', () => {
  const rules = new EncryptionRules({ encS3: ['s/b'], encNone: ['s/b/open/'] }, {});

  it.each([
    ['s/other/x', undefined],
    ['s/b/x', { 'x-amz-server-side-encryption': 'AES256' }],
    ['s/b/open/x', {}],
  ])('to %s', (name, headers) => expect(rules.forCopy(name)).toEqual(headers));
});

describe('the old flags', () => {
  const characters = 'k'.repeat(32);
  const rules = new EncryptionRules({ encrypt: 's/a,s/b' }, { MC_ENCRYPT_KEY: `s/c=${characters},s/d=${characters}` });

  it('have places separated by commas', () => {
    expect(['s/a/x', 's/b/x'].map((name) => rules.forNew(name))).toEqual([
      { 'x-amz-server-side-encryption': 'AES256' },
      { 'x-amz-server-side-encryption': 'AES256' },
    ]);
    const name = 'x-amz-server-side-encryption-customer-key';
    const encoded = Buffer.from(characters).toString('base64');
    expect(['s/c/x', 's/d/x'].map((place) => rules.forKey(place)[name])).toEqual([encoded, encoded]);
  });

  it('refuse a key of another length, and do not repeat it', () => {
    expect(() => new EncryptionRules({ encryptKey: 's/b=short-secret' }, {})).toThrow(
      /^Invalid --encrypt-key for `s\/b`: the key has 32 characters$/,
    );
  });
});

describe('a key', () => {
  it.each([key.toString('hex'), key.toString('base64url'), key.toString('base64')])('may be %s', (text) => {
    const rules = new EncryptionRules({ encC: [`s/b=${text}`] }, {});
    expect(rules.forKey('s/b/x')['x-amz-server-side-encryption-customer-key']).toBe(key.toString('base64'));
  });

  it.each(['s/b=abc', 's/b=', 's/b', `s/b=${'z'.repeat(64)}`])('cannot be %s, and is not repeated', (text) => {
    expect(() => new EncryptionRules({ encC: [text] }, {})).toThrow(/^Invalid --enc-c(?!.*(abc|zzz))/);
  });
});

it('comes from the environment, unless there is a flag', () => {
  const env = { MC_ENC_KMS: 's/a=k1,s/b=k2', MC_ENC_S3: 's/c' };
  const keyId = 'x-amz-server-side-encryption-aws-kms-key-id';
  expect(new EncryptionRules({}, env).forNew('s/b/x')[keyId]).toBe('k2');
  expect(new EncryptionRules({}, env).forNew('s/c/x')).toEqual({ 'x-amz-server-side-encryption': 'AES256' });
  expect(new EncryptionRules({ encKms: ['s/a=k3'] }, env).forNew('s/a/x')[keyId]).toBe('k3');
});

it('two kinds for one place are refused', () => {
  expect(() => new EncryptionRules({ encKms: ['s/b=k'], encS3: ['s/b'] }, {})).toThrow('two kinds');
});

describe('a command that writes', () => {
  const hex = key.toString('hex');
  const names = ['./file', 'demo/bucket/dir'];

  it.each<EncryptionOptions>([
    { encS3: ['demo/other'] },
    { encKms: ['demo/bucket/dim=my-key'], encS3: ['demo/other'] },
    { encS3: ['demo/bucket/direct'] },
    { encC: [`Demo/bucket=${hex}`] },
    { encrypt: 'demo/other,demo/others' },
    { encryptKey: `demo/other=${'k'.repeat(32)}` },
  ])('refuses flags that are all for places that it does not name: %o', (options) => {
    const refused = () => new EncryptionRules(options, {}, names);
    expect(refused).toThrow(
      /^`.*` (?:is|are) no place of `\.\/file` or `demo\/bucket\/dir`: nothing would be encrypted$/,
    );
    expect(refused).not.toThrow(new RegExp(`${hex}|kkk`));
  });

  it.each(['demo/bucket', 'demo/bucket/', 'demo/bucket/d', 'demo/bucket/dir/sub', 'demo//bucket/dir', './file'])(
    'takes a flag for %s',
    (place) => {
      expect(() => new EncryptionRules({ encS3: [place] }, {}, names)).not.toThrow();
    },
  );

  it('takes flags of which one is for a place of it', () => {
    const options = { encKms: ['demo/bucket=my-key'], encS3: ['demo/other'] };
    expect(() => new EncryptionRules(options, {}, names)).not.toThrow();
  });

  it('takes places of the environment, which are for all commands', () => {
    expect(() => new EncryptionRules({}, { MC_ENC_S3: 'demo/other' }, names)).not.toThrow();
  });
});
