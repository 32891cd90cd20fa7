import { describe, expect, it } from 'vitest';
import { signedFields, signedFieldsV2 } from '../../test/support/s3-api/post-forms.ts';
import { createFormAuthenticator } from './authenticate-form.ts';
import type { AuthenticatorOptions } from './access.ts';
import type { StoredCredentials } from './principal.ts';

const now = new Date('2015-12-29T01:00:00Z');
const root: StoredCredentials = {
  accessKey: 'AKIAIOSFODNN7EXAMPLE',
  secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  principal: { kind: 'root', accessKey: 'AKIAIOSFODNN7EXAMPLE' },
};
const temporary: StoredCredentials & { sessionToken: string } = {
  ...root,
  accessKey: 'TEMPORARY',
  sessionToken: 'token',
};

/** Verifies a form, and resolves with the code of a refusal, or `taken`. */
async function outcome(fields: Readonly<Record<string, string>>, options: Partial<AuthenticatorOptions> = {}) {
  const authenticate = createFormAuthenticator({
    credentials: {
      credentials: (accessKey) => Promise.resolve([root, temporary].find((known) => known.accessKey === accessKey)),
      issuedButExpired: (_accessKey, token) => Promise.resolve(token === 'old'),
    },
    clock: () => now,
    ...options,
  });
  const form = new Map(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), { name, value }]));
  try {
    return (await authenticate(form)) === undefined ? 'anonymous' : 'taken';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

/** The policy of the example in the reference of S3, and its signature. */
const policyOfAws = Buffer.from(
  [
    '{ "expiration": "2015-12-30T12:00:00.000Z",',
    '  "conditions": [',
    '    {"bucket": "sigv4examplebucket"},',
    '    ["starts-with", "$key", "user/user1/"],',
    '    {"acl": "public-read"},',
    '    {"success_action_redirect": "http://sigv4examplebucket.s3.amazonaws.com/successful_upload.html"},',
    '    ["starts-with", "$Content-Type", "image/"],',
    '    {"x-amz-meta-uuid": "14365123651274"},',
    '    {"x-amz-server-side-encryption": "AES256"},',
    '    ["starts-with", "$x-amz-meta-tag", ""],',
    '',
    '    {"x-amz-credential": "AKIAIOSFODNN7EXAMPLE/20151229/us-east-1/s3/aws4_request"},',
    '    {"x-amz-algorithm": "AWS4-HMAC-SHA256"},',
    '    {"x-amz-date": "20151229T000000Z" }',
    '  ]',
    '}',
  ].join('\r\n'),
).toString('base64');
const formOfAws = {
  'X-Amz-Credential': 'AKIAIOSFODNN7EXAMPLE/20151229/us-east-1/s3/aws4_request',
  'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
  'X-Amz-Date': '20151229T000000Z',
  Policy: policyOfAws,
  'X-Amz-Signature': '8afdbf4008c03f22c2cd3cdb72e4afbb1f6a588f3255ac628749a66d7f09699e',
};

describe('createFormAuthenticator', () => {
  it('takes the example of AWS', async () => {
    expect(await outcome(formOfAws)).toBe('taken');
    expect(await outcome({ ...formOfAws, Policy: `${policyOfAws}=` })).toBe('SignatureDoesNotMatch');
  });

  it('takes a form without a signature as anonymous', async () => {
    expect(await outcome({ key: 'a', policy: policyOfAws })).toBe('anonymous');
  });

  it.each([
    [{ ...temporary }, 'taken'],
    [{ ...temporary, sessionToken: 'other' }, 'InvalidTokenId'],
    [{ accessKey: temporary.accessKey, secretKey: temporary.secretKey }, 'InvalidTokenId'],
    [{ ...temporary, accessKey: 'GONE', sessionToken: 'old' }, 'ExpiredToken'],
    [{ ...temporary, accessKey: 'GONE', sessionToken: 'unknown' }, 'InvalidAccessKeyId'],
  ])('looks at the session token: %j is %s', async (signer, expected) => {
    expect(await outcome(signedFields({}, signer, { now }))).toBe(expected);
  });

  it('compares the region, if one is set', async () => {
    const fields = signedFields({}, root, { now, region: 'eu-west-1' });
    expect(await outcome(fields)).toBe('taken');
    expect(await outcome(fields, { region: 'eu-west-1' })).toBe('taken');
    expect(await outcome(fields, { region: 'us-east-1' })).toBe('InvalidArgument');
  });

  it.each([
    ['presigned', 'taken'],
    ['on', 'taken'],
    ['off', 'InvalidRequest'],
  ] as const)('takes version 2 by the rule for presigned URLs: %s', async (signatureV2, expected) => {
    expect(await outcome(signedFieldsV2({}, root, { now }), { signatureV2 })).toBe(expected);
  });

  it('takes the root credentials from before a rotation', async () => {
    const former = { ...root, secretKey: 'former-secret' };
    const source = {
      credentials: () => Promise.resolve(root),
      formerRoot: () => Promise.resolve(former),
    };
    expect(await outcome(signedFields({}, former, { now }), { credentials: source })).toBe('taken');
    expect(await outcome(signedFields({}, { ...root, secretKey: 'x' }, { now }), { credentials: source })).toBe(
      'SignatureDoesNotMatch',
    );
  });
});
